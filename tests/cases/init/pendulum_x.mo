model Pendulum "given x only: y follows, the velocities keep their default"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].how = "fixed"
  // expect: x = 0.6 within 1.6e-13
  // expect: report.values["y"].how = "computed"
  // expect: y = 0.8 within 1.8e-13
  // expect: lambda = -7.848 within 8.85e-13
  // expect: [[part.index] + part.highest_index for part in report.parts] = [[3, "lambda"]]
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y;
  Real vx;
  Real vy;
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
