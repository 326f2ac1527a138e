// Linear equations inside a function that iterates: exact derivatives also where the entries differ by ten orders of magnitude, with exchange of rows.
// run: simulate --quiet --intervals 20
// expect: y = sqrt(2 + time) within 1e-10 everywhere
// expect: v = 0.5/sqrt(2 + time) within 1e-10 everywhere
// expect: a = -0.25/sqrt(2 + time)^3 within 1e-9 everywhere
// expect: n = 0 within 1e-15 everywhere
// expect: s = 1 within 1e-15 everywhere
package P
  function solve
    input Real A[:, size(A, 1)]; input Real b[size(A, 1)]; output Real x[size(A, 1)] = b; output Integer info;
  protected
    Real work[size(A, 1), size(A, 1)] = A;
    Integer pivots[size(A, 1)];
    external "FORTRAN 77" dgesv(size(A, 1), 1, work, max(1, size(A, 1)), pivots, x, max(1, size(A, 1)), info);
  end solve;
  function root "x[1]^2 = u, 1e10*x[2] = x[1], by Newton's method"
    input Real u; output Real y;
  protected
    Real x[2] = {1, 1}, step[2] = {1, 1};
    Integer info, n = 0;
  algorithm
    while max(abs(step)) > 1e-13 and n < 30 loop
      (step, info) := solve([1, -1e10; 2*x[1], 0], {1e10*x[2] - x[1], u - x[1]^2});
      x := x + step;
      n := n + 1;
    end while;
    y := 1e10*x[2];
  end root;
  function rank
    input Real u; output Integer info;
  protected
    Real x[2];
  algorithm
    (x, info) := solve([0, u; 0, 2*u], {1, 1});
  end rank;
  function none "no equations"
    input Real u; output Real n;
  algorithm
    n := u*sum(solve(fill(u, 0, 0), fill(u, 0)));
  end none;
  model M
    Real y = root(2 + time), v = der(y), a = der(v), n = none(time);
    Integer s = rank(time);
  end M;
end P;
