model Pendulum "the nearest point of the circle lies on the ray from the centre"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].how = "moved"
  // expect: x = 0.6 within 1.6e-13
  // expect: y = 0.8 within 1.8e-13
  // expect: vx = -0.32 within 1.32e-13
  // expect: vy = 0.24 within 1.24e-13
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 3);
  Real y(start = 4);
  Real vx(start = 1);
  Real vy(start = 2);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
