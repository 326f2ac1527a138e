// 2
model F
  parameter Real p(fixed = false, start = 1);
  Real x(start = 1, fixed = true);
initial equation
  der(x) = -0.5;
equation
  der(x) = -p*x;
end F;
