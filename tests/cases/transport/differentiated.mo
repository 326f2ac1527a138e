// A constraint on the outflow is differentiated along the pipe.
// run: simulate --stop-time 3 --tolerance 1e-8 --method {dummy,minimal,underlying}
// expect: y = (-0.5 + time if time < 0.5 else sin(time - 0.5)) within 1e-6 everywhere
// expect: f = (1 if time < 0.5 else cos(time - 0.5)) within 1e-4 where abs(time - 0.5) > 1e-4
// run: simulate --stop-time 3 --tolerance 1e-8
// change: y = b; -> y = der(spatialDistribution(0, sin(time), -x, false, {0, 0.5, 1}, {-0.5, -0.25, 0}));
// expect: y = (1 if time < 0.5 else cos(time - 0.5)) within 1e-5 where abs(time - 0.5) > 1e-4
model M
  Real x(start=0, fixed=true), y, f, a, b;
equation
  der(x) = 2;
  der(y) = f;
  y = b;
  (a, b) = spatialDistribution(sin(time), 0, x, true, {0, 1}, {0, -0.5});
end M;
