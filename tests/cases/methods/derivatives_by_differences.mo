// A point is driven around a circle. x' and y' come from differences, every constraint holds to round-off, and the closed form is reached.
// let: angle = time + 0.5*(1 - cos(time))
// let: rate = 1 + 0.5*sin(time)
// run: simulate --solver {ida,bdf} --stop-time 20 --tolerance 1e-7 --intervals 100 {,--compile}
// expect: report.left_out = 1
// expect: size(report.pivots) > 8
// expect: report.constraint_residual.max < 1e-12
// expect: x = cos(angle) within 1e-5 everywhere
// expect: y = sin(angle) within 1e-5 everywhere
// expect: der(x) = -y*rate within 1e-12 everywhere
// expect: der(y) = x*rate within 1e-12 everywhere
model M
  Real x(start=1, fixed=true);
  Real y(start=0);
equation
  x^2 + y^2 = 1;
  x*der(y) - y*der(x) = 1 + 0.5*sin(time);
end M;
