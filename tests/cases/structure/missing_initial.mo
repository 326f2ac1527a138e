model MissingInitial "a pendulum with one fixed start value; one more may be given"
  // run: analyze
  // expect: exit 0
  // expect: report.status = "ok"
  // expect: report.dof = 2
  // expect: report.initial.free = 1
  // expect: size(report.initial.redundant) = 0
  // expect: prints /1 more may be given/
  Real x(start = 1);
  Real y(start = 0, fixed = true);
  Real vx(start = 0);
  Real vy(start = 0);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = 1;
end MissingInitial;
