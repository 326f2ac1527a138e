// The equations of second_derivatives.mo by hand.
model M
  Real x(start = 1, fixed = true), y(start = 0.3, fixed = true);
initial equation
  der(x) = 0.1;
  der(y) = 0;
  der(der(y)) = 0.2;
  der(der(der(y))) = 0.1;
equation
  der(der(x)) + 2/5*der(der(y))*der(der(der(y))) = der(der(y))^2/2 - 2*x;
  der(der((x + 2/5*der(x))*der(der(y)))) = 8*y;
end M;
