// The modifiers of a redeclaration take precedence over those of the constraining clause. Without such a clause, the modifiers of the
// replaced declaration take its place. This holds for models, packages and functions.
// run: simulate --model P.M
// expect: c.t.y = 5*time + 7 within 1e-12 everywhere
// expect: c.u = 3*time within 1e-12 everywhere
// expect: c.f = 5*time + 2 within 1e-12 everywhere
// expect: c.k.y = 4*time + 8 within 1e-12 everywhere
// expect: c.l.y = 4*time + 8 within 1e-12 everywhere
package P
  model R
    parameter Real a = 0, b = 0;
    Real y = a*time + b;
  end R;
  package K
    constant Real k = 1;
    function h
      input Real x;
      output Real y;
    algorithm
      y := k*x;
    end h;
  end K;
  function line
    input Real x, a, b;
    output Real y;
  algorithm
    y := a*x + b;
  end line;
  model B
    replaceable model T = R(a = 1, b = 7);
    replaceable model C = R constrainedby R(a = 1, b = 8);
    replaceable model L = R(a = 4) constrainedby R(a = 1, b = 8);
    replaceable package Z = K(k = 2);
    replaceable function g = line(a = 1, b = 2);
    T t;
    C k;
    L l;
    Real u = Z.h(time), f = g(time);
  end B;
  model M
    B c(redeclare model T = R(a = 5), redeclare model C = R(a = 4), redeclare package Z = K(k = 3), redeclare function g = line(a = 5));
  end M;
end P;
