// An output that is an input, or an expression of only one input.
// run: linearize -q
// expect: report.D = [[3], [1]]
model M
  input Real u(start = 1);
  Real x(start = 0, fixed = true);
  output Real y, z;
equation
  der(x) = u;
  y = 3*u;
  z = u;
end M;
