// run: check
// expect: exit 3
// expect: 11:10: `c.k`
// expect: says may differ from element to element
model C
  constant Real k = 2;
  function f
    input Real u;
    output Real y;
  algorithm
    y := k*u;
  end f;
  Real x = f(3*time);
end C;
model D
  C c[2];
end D;
model M
  C c[2](k = {1, 2});
end M;
