// Derivatives by elements of arrays and records equal the derivatives of a function of scalars.
// run: simulate
// expect: exit 0
// run: reduce
// expect: prints function 'f$s2$d1$d2' = der('f$s2', 'a1', 'a2');
// run: reduce | simulate
// reference: simulate
// expect: x = reference.x within 1e-5
// expect: y = reference.y within 1e-5
// expect: u = reference.u within 1e-5
// expect: v = reference.v within 1e-5
// expect: l = reference.l within 1e-5
model M
  record Q
    Real a;
    Real b[2];
  end Q;
  function f
    input Real p[2];
    input Q q;
    output Real v[2];
  protected
    Real t = 1;
  algorithm
    v := {p[1], p[1]*p[1]*q.a + p[2]^2 + q.b[2]^2};
    while t > 0.1 + p[1]^2 loop
      t := t/2;
    end while;
  end f;
  Real x(start = 0.5), y(start = 0.6, fixed = true), u, v(start = 0, fixed = true), l, w[2];
equation
  der(x) = u;
  der(y) = v;
  der(u) = -l*x;
  der(v) = -l*y - 9.81;
  w = f({x, y}, Q(1, {2, 0.5}));
  w[2] = 1;
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-8));
end M;
