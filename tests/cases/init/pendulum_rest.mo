model Pendulum "initial equations for rest: the lower equilibrium by the guess"
  // run: init
  // expect: exit 0
  // expect: x = 0 within 1e-13
  // expect: y = -1 within 2e-13
  // expect: lambda = 9.81 within 1.08e-12
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.1);
  Real y(start = -0.9);
  Real vx;
  Real vy;
  Real lambda;
initial equation
  der(vx) = 0;
  vx = 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
