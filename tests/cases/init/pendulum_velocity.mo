model Pendulum "velocities that violate the hidden constraint move as little as possible"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].how = "kept"
  // expect: report.values["y"].how = "kept"
  // expect: report.values["vx"].how = "moved"
  // expect: report.values["vy"].how = "moved"
  // expect: vx = 1.12 within 2.12e-13
  // expect: vy = 0.84 within 1.84e-13
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6);
  Real y(start = -0.8);
  Real vx(start = 1);
  Real vy(start = 1);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
