model Arrays "arrays, slices, comprehensions, for-equations"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line der('x[2]') = -'k[2]'*'x[2]';
  // expect: line parameter Real 'a[3,2]' = 8;
  // expect: line 't[2,3]' = 'y[3]';
  parameter Integer n = 3;
  parameter Real a[n, n] = [1, 2, 3; 4, 5, 6; 7, 8, 10];
  parameter Real k[:] = {i^2 for i in 1:n};
  Real x[n](start = {1, 2, 3}, each fixed = true, each unit = "m");
  Real y[n], s, t[2, n];
equation
  for i in 1:n loop
    der(x[i]) = -k[i]*x[i];
  end for;
  y = a*x;
  s = sum(x[i]*y[i] for i in 1:n) + x[end] + scalar(transpose(matrix(x))*matrix(y));
  t = [transpose(matrix(x[1:n])); transpose(matrix(y))];
end Arrays;
