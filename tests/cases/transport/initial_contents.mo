// The initial contents leave the pipe: straight lines, a jump inside, points given by parameters, only the values given.
// let: contents(y) = 1 + 4*y if y <= 0.25 else 4 - (y - 0.25)/0.75
// run: simulate --stop-time 3 --intervals 30
// expect: a = (contents(time/2) if time < 2 else 9) within 1e-7 where abs(time - 0.5) > 1e-4 and abs(time - 2) > 1e-4
// expect: b = 9 everywhere
// expect: d = (2 - time/2 if time < 2 else 0) within 1e-7 where abs(time - 2) > 1e-4
model M
  parameter Real p = 0.25;
  Real x(start=5, fixed=true), a, b, c, d;
equation
  der(x) = -0.5;
  (a, b) = spatialDistribution(0, 9, x, false, {0, p, p, 1}, initialValues = {1, 2, 4, 3});
  (c, d) = spatialDistribution(0, 9, -x, true, initialValues = {1, 2}, initialPoints = {0, 1});
end M;
