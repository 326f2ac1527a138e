// The equations of given_functions.mo by hand.
model M
  Real m(start = 2, fixed = true), x(start = 0, fixed = true), s, i(start = 0, fixed = true);
initial equation
  der(x) = 1;
equation
  der(m) = -0.5;
  s = sin(time);
  0.1*der(i) + i = 1 - 0.2*der(x);
  der(m)*(der(x) + cos(time)) + m*(der(der(x)) - sin(time)) = 0.2*i;
end M;
