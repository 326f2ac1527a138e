model Pendulum "one initial equation too many, but it agrees"
  // run: init
  // expect: exit 0
  // expect: x = 0 within 1e-13
  // expect: y = -1 within 2e-13
  // expect: prints redundant
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.1);
  Real y(start = -0.9);
  Real vx;
  Real vy;
  Real lambda;
initial equation
  x = 0;
  vx = 0;
  y = -1;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
