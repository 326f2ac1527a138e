// run: simulate --solver auto --tolerance 1e-6 --intervals 3 --stop-time 2
// The first event is right after the start: the row of its near side is that of the start.
// expect: rows = 4 + 2*report.events - 1
// run: simulate --solver auto --tolerance 1e-6 --intervals 3 --stop-time 2 --no-event-rows
// expect: rows = 4
model M
  Real s(start=0, fixed=true);
equation
  der(s) = if sin(40*time) > 0 then 1 else 0;
end M;
