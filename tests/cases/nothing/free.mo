// A parameter that an initial equation determines, and nothing else.
// expect: time = 1
model Free
  parameter Real k(fixed = false);
initial equation
  k^2 = 4;
end Free;
