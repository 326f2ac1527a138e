model Sizes
  // Sizes by parameters in any order, from bindings, and from each other.
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'y[3]' = 'x[3]'^2;
  // expect: line 'total' = 'x[1]' + 'x[2]' + 'x[3]';
  // expect: line 'corner' = 'table[3,2]';
  parameter Integer n = size(table, 1);
  parameter Real table[:, :] = [0, 1; 1, 2; 2, 5];
  Real x[n](start = table[:, 2]), y[size(x, 1)], total, corner;
equation
  for i in 1:n loop
    der(x[i]) = -x[i]*table[i, 2];
  end for;
  y = x .^ 2;
  total = sum(x);
  corner = table[end, end];
end Sizes;
