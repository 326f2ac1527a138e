model MissingInitial "a pendulum with one fixed start value; one more may be given"
  // expect: exit 0
  // expect: status ok
  // expect: dof 2
  // expect: free 1
  // expect: redundant 0
  // expect: report 1 more may be given
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
