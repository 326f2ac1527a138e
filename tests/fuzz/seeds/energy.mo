model Energy
  parameter Real m = 1, L = 1, g = 9.81;
  Real x(start = 1), y(start = 0, fixed = true), v, u, k(start = 1, fixed = true);
initial equation
  der(y) = 0;
equation
  v = der(x);
  u = sin(time);
  der(k) = -0.1*k;
lagrangian
  m/2*(v^2 + der(y)^2) - m*g*y;
  -k/2*x^2;
dissipation
  0.1*der(y)^2;
force
  x = u - 0.01*lambda_rod;
constraint
  x^2 + y^2 = L^2 "rod";
end Energy;
