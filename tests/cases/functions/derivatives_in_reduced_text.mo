// run: simulate
// expect: exit 0
// run: reduce --method {dummy,underlying}
// expect: prints function 'loops$d1$d1' = der('loops', 'x', 'x');
// run: reduce --method {dummy,underlying} | simulate
// reference: simulate
// expect: x = reference.x within 1e-5
// expect: y = reference.y within 1e-5
// expect: u = reference.u within 1e-5
// expect: v = reference.v within 1e-5
// expect: l = reference.l within 1e-5
package P
  function smooth
    input Real x;
    input Real y = 2;
    output Real z;
    output Real w[2];
  algorithm
    z := x^3*sin(y) + exp(x*y);
    w := {x*y, y^3/x};
  end smooth;
  function loops  "stays a call: how often it loops is known while running only"
    input Real x;
    input Real y;
    output Real z;
  protected
    Real t = 1;
  algorithm
    z := x^3*sin(y) + exp(x*y);
    while t > 0.1 + x^2 loop
      t := t/2;
    end while;
  end loops;
  function sx = der(smooth, x);
  function sxy = der(sx, y);
  function syxx = der(smooth, y, x, x);
  function lx = der(loops, x);
  function ly = der(loops, y);
  function lxy = der(loops, x, y);
  model M
    Real x(start = 0.5), y(start = 0.5, fixed = true), u, v(start = 0.1, fixed = true), l;
  equation
    der(x) = u;
    der(y) = v;
    der(u) = l*lx(x, y);
    der(v) = l*ly(x, y);
    loops(x, y) = 1.5;
    annotation(experiment(StopTime = 0.3, Tolerance = 1e-8));
  end M;
end P;
