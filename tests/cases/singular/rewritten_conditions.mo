// Conditions are shown as they are written.
// run: simulate
// expect: "if x < 0.5 then" in report.conversions[0].after
model M
  Real x(start = 1), y;
equation
  der(x) + time*der(y) = if x < 0.5 then sin(time) else cos(time);
  x + y*time = cos(time);
  annotation(experiment(StopTime = 0.4));
end M;
