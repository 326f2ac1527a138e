// Parameters alone.
// expect: time = 1
model Parameter
  parameter Real k = 1; parameter Real l = 2*k;
end Parameter;
