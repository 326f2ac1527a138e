// The equations of forces_of_accelerations.mo by hand.
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), z, l;
initial equation
  der(x) = 0;
  der(y) = 1;
equation
  2*der(der(x)) + der(der(y)) + 2*x = -0.7*der(der(y)) + 0.1*l - l;
  2*der(der(y)) + der(der(x)) + 2*y = -2*y*l;
  2*der(der(z)) = l;
  z = x + y^2;
end M;
