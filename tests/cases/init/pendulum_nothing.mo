model Pendulum "nothing given: the default start values are a singular point"
  // run: init
  // expect: exit 0
  // expect: report.values["x"].how = "computed"
  // expect: begins(report.way, "step by step")
  // expect: [[part.index] + part.highest_index for part in report.parts] = [[3, "lambda"]]
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x;
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
