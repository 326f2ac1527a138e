// tan(time) changes its sign at pi/2, where it is infinite; z = cos(time) in the whole run.
// run: simulate
// expect: says changes its sign
// expect: x = sin(2) within 1e-5
model M
  Real x(start = 0, fixed = true), z;
equation
  der(x) = z;
  tan(time + 0.3)*z = tan(time + 0.3)*cos(time);
  annotation(experiment(StopTime = 2));
end M;
