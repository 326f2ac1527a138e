model RedundantInitial "a pendulum with four fixed start values, two more than it has degrees of freedom"
  // run: analyze
  // expect: exit 0
  // expect: report.status = "ok"
  // expect: report.dof = 2
  // expect: report.initial.free = 0
  // expect: size(report.initial.redundant) = 2
  // expect: says /the fixed start value of \w+ is redundant/
  // expect: says /remove fixed=true from/
  Real x(start = 1, fixed = true);
  Real y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true);
  Real vy(start = 0, fixed = true);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = 1;
end RedundantInitial;
