// flatten writes a text that can be read again.
// run: flatten
// expect: prints spatialDistribution(time, 2, 'x', der('x') > 0, {0, 0.3, 1}, {1, 2, 3})
// expect: prints spatialDistribution(2, time, -'x', not der('x') > 0, {0, 0.7, 1}, {3, 2, 1})
model M
  Real x(start=0, fixed=true), a, b;
equation
  der(x) = sin(time);
  (a, b) = spatialDistribution(time, 2, x, der(x) > 0, {0, 0.3, 1}, {1, 2, 3});
end M;
