// A run does not stop because determinants repeatedly fall to 1 %, or change much.
// run: simulate
// change: 1.01 + cos(3*time) -> 1.01 + cos(3*time) | exp(-3*time) | 0.02 + sin(time)^2 | 1 + time^3
// expect: x = sin(10) within 1e-5
model M
  Real x(start = 0, fixed = true), z;
equation
  der(x) = z;
  (1.01 + cos(3*time))*z = (1.01 + cos(3*time))*cos(time);
  annotation(experiment(StopTime = 10));
end M;
