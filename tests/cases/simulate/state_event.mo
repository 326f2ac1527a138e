// x' = 1 below 1, 1/2 above: the event is where x is 1.
// run: simulate --stop-time 3
// expect: x = 2 within 1e-9
// expect: report.events = 1
model M
  Real x(start=0, fixed=true);
equation
  der(x) = if x > 1 then 0.5 else 1;
end M;
