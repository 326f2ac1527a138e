model Parameter "parameters with fixed = false: how strong must gravity be for this force?"
  // run: init
  // expect: exit 0
  // expect: g = 25 within 2.6e-12
  // expect: report.values["g"].how = "moved"
  // expect: lambda = 20 within 2.1e-12
  // expect: w = 50 within 5.1e-12
  // expect: report.residual < 1e-12
  parameter Real L = 1;
  parameter Real weight = 2*g "bound to a free one, which is declared later";
  parameter Real g(start = 9, fixed = false);
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.8);
  Real vx(start = 0, fixed = true);
  Real vy;
  Real lambda;
  Real w;
initial equation
  lambda = 20;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
  w = weight + 0*time;
end Parameter;
