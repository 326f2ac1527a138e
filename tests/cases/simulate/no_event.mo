// run: simulate --stop-time 1
// expect: report.events = 0
model M
  Real x(start=0, fixed=true);
equation
  der(x) = noEvent(if time < 0.3 then 1 else -1);
end M;
