model Arrays
  parameter Integer n = 4;
  parameter Real A[n, n] = identity(n) + fill(0.5, n, n);
  constant Real b[2, 3] = [1, 2, 3; 4, 5, 6];
  Real x[n](start = linspace(0, 1, n), each fixed = true);
  Real y[:] = {i^2 for i in 1:n};
  Real s, p, m;
equation
  for i in 1:n loop
    der(x[i]) = -sum(A[i, j]*x[j] for j in 1:n);
  end for;
  s = x*y + sum(x[1:2:end]) + product(b[1, :]);
  p = scalar(transpose([x])*[x]);
  m = max({x[i] for i in 1:n}) - min(cat(1, x, zeros(2), ones(2))) + size(A, 1);
end Arrays;
