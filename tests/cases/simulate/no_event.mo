// A jump makes an event, also within noEvent; branches that meet make none.
// run: simulate --stop-time 1
// expect: report.events = 1
// expect: x = -0.4 within 1e-9
// expect: y = 0.09 within 1e-5
model M
  Real x(start=0, fixed=true), y(start=0, fixed=true);
equation
  der(x) = noEvent(if time < 0.3 then 1 else -1);
  der(y) = noEvent(if x > 0 then x else 0);
end M;
