// Arrays in functions: slices, sizes that depend on arguments, free sizes, comprehensions, functions on arrays.
function solve "Gaussian elimination with pivoting, in place"
  input Real A[:, :];
  input Real b[size(A, 1)];
  output Real x[size(A, 1)];
protected
  Real M[size(A, 1), size(A, 1) + 1] = [A, matrix(b)];
  Integer n = size(A, 1);
  Integer p;
  Real row[size(A, 1) + 1];
  Real scale = 1;
algorithm
  while scale < abs(b[1]) + abs(A[1, 2]) loop
    scale := 2*scale;
  end while;
  M := M/scale;
  for k in 1:n loop
    p := k;
    for i in k + 1:n loop
      if abs(M[i, k]) > abs(M[p, k]) then
        p := i;
      end if;
    end for;
    row := M[p, :];
    M[p, :] := M[k, :];
    M[k, :] := row;
    for i in k + 1:n loop
      M[i, k + 1:end] := M[i, k + 1:end] - M[i, k]/M[k, k]*M[k, k + 1:end];
    end for;
  end for;
  for k in n:-1:1 loop
    x[k] := (M[k, n + 1] - M[k, k + 1:n]*x[k + 1:n])/M[k, k];
  end for;
end solve;

function sieve "a free size that grows"
  input Real x;
  input Real v[:];
  output Real y;
protected
  Real kept[:];
  Real w[:] = v;
  Boolean mask[2] = {true, false};
algorithm
  kept := {x};
  for e in v loop
    if e > x then
      kept := cat(1, kept, {e*x, e});
    end if;
  end for;
  w[1] := 100;
  while sum(kept) < 3 loop
    kept := cat(1, kept, kept .+ 0.5);
  end while;
  y := kept*kept + product(kept)/sum(kept) + max(kept)*min(kept) + v[1] + size(kept, 1)
     + v[{2, 1}]*v[1:2] + sum(v[mask]);
end sieve;

function many "functions on arrays"
  input Real x;
  input Real u[3];
  output Real y;
  output Real A[3, 3];
protected
  Real t = 0;
  Real v[3];
  Real B[2, 3];
  Integer n[2];
algorithm
  while t < x loop
    t := t + 0.6;
  end while;
  v := cross(u, {x, 2, t}) + skew(u)*{1, 0, x} - t*u;
  A := outerProduct(u, v) + identity(3) + diagonal(v) + symmetric([u[1], 2, 3; 4, u[2], 6; 7, 8, u[3]]);
  A[2:3, 1] := A[1, {3, 2}];
  B := transpose([v, u]);
  n := size(B);
  y := sum(B) + sum(i*x + k for i in 1:2, k in n) + linspace(x, t, 4)*{1, 2, 3, 4} + scalar({t}) + ndims(A)
     + vector([x; t])*{1, x} + sum(A^2) + sum(fill(x, 2, 2)) + sum(zeros(2)) + sum(ones(3)) + sum(sin(v))
     + sum(root(abs(v) .+ 1)) + sum(u ./ (v .* v .+ 1)) + sum(promote(v, 2)) + sum({k^2*x for k in v})
     + u*v + sum(A*v) + sum(v*A) + sum(A*A) + sum(-u) + sum(2 .- u) + sum(u .^ 2) + min(x, y) + sum(u/x)
     + Modelica.Math.Vectors.length(u) + sum(Modelica.Math.Vectors.normalize(v));
end many;

function root
  input Real a;
  output Real x;
algorithm
  x := 1;
  while abs(x*x - a) > 1e-12 loop
    x := 0.5*(x + a/x);
  end while;
end root;

function interpolate
  input Real table[:, 2];
  input Real x;
  output Real y;
protected
  Integer i = 1;
algorithm
  while i < size(table, 1) - 1 and x > table[i + 1, 1] loop
    i := i + 1;
  end while;
  y := table[i, 2] + (x - table[i, 1])*(table[i + 1, 2] - table[i, 2])/(table[i + 1, 1] - table[i, 1]);
end interpolate;

function work "the size of a local depends on a number"
  input Real x;
  output Real y[2];
protected
  Integer n = integer(4*x) + 1;
  Real w[n];
  Real none[:];
algorithm
  for i in 1:n loop
    w[i] := i*x;
  end for;
  for i in 1:n loop
    w[i:n] := w[i:n]*1.1;
  end for;
  y := {sum(w), w[end]} + {sum(none), w[1]};
end work;

model Arrays
  parameter Real table[4, 2] = [0, 1; 0.5, 2; 1, 1.5; 3, 4];
  Real x, y, z[9], A[3, 3], s[3], w[2];
equation
  x = 1.2 + time/100;
  y = x*x + 1;
  s = solve([4, x, 1; y, 5, x; 1, x*y, 6], {1, x, y});
  z[1] = sieve(x, {0.5, 1.0, y, x*y});
  (z[2], A) = many(x, {x, y, x + y});
  z[3] = interpolate(table, x);
  z[4] = interpolate([0, x; 1, y; 2, x*y], y);
  w = work(x);
  z[5:7] = root({x, y, x*y});
  z[8] = sum(solve([2, x; y, -3], {x, y}));
  z[9] = sieve(y, {x, 1.25});
end Arrays;
