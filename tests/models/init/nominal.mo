model Nominal "moves are measured by nominal values"
  // expect exit 0
  // min (x/10)^2 + y^2 with x + y = 101: x = 100, y = 1
  // expect value x 100
  // expect value y 1
  Real x(start = 0, nominal = 10);
  Real y(start = 0);
  Real u;
equation
  der(x) = u;
  der(y) = u;
  x + y = 101;
end Nominal;
