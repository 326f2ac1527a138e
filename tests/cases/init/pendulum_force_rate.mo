model Pendulum "an initial equation for a derivative that the model itself does not need"
  // run: init
  // expect: exit 0
  // lambda = v^2 - g*y/L by the length constraint, so der(lambda) = -3*g*vy/L^2: vy = -1/(3*g) and vx = vy*4/3 there
  // expect: vy = -0.03397893306150187 within 1.03e-12
  // expect: vx = -0.04530524408200249 within 1.05e-12
  // expect: der(lambda) = 1 within 2e-13
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6);
  Real y(start = -0.8);
  Real vx(start = 0.1);
  Real vy;
  Real lambda;
initial equation
  der(lambda) = 1;
  x = 0.6;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
