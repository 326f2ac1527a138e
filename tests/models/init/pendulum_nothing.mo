model Pendulum "nothing given: the default start values are a singular point"
  // expect exit 0
  // expect how x computed
  // expect way step by step
  // expect highest [[3, "lambda"]]
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
