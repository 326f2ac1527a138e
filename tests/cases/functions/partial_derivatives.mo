// function g = der(f, x): values against difference quotients, for functions that are inlined and those that stay calls.
// let: value(x, y) = x^3*sin(y) + exp(x*y)
// let: s = 1e-4
// let: by_x(x, y) = (value(x + s, y) - value(x - s, y))/(2*s)
// let: by_xy = (by_x(0.8, 1 + s) - by_x(0.8, 1 - s))/(2*s)
// run: simulate --tolerance 1e-10
// expect: a = by_x(0.8, 1) within 1e-5
// expect: b = by_xy within 1e-5
// expect: c = 6*0.8*cos(1) + exp(0.8)*(2 + 0.8) within 1e-5
// expect: d = by_x(0.8, 1) within 1e-5
// expect: e = (value(0.8, 1 + s) - value(0.8, 1 - s))/(2*s) within 1e-5
// expect: f = by_xy within 1e-5
// expect: g = by_x(0.8, 2) within 1e-5
// expect: h = by_x(0.8, 1) within 1e-5
// expect: w[1] = 1 within 1e-5
// expect: w[2] = -1/0.8^2 within 1e-5
// expect: k = by_x(0.5, 1) within 1e-5
// run: flatten
// expect: prints function 'loops$d1$d2' = der('loops', 'x', 'y');
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
    parameter Real p = sx(0.5, 1);
    Real x(start = 0.5, fixed = true), a, b, c, d, e, f, g, h, w[2], k;
  equation
    der(x) = 0.3;
    a = sx(x, time);
    b = sxy(x, time);
    c = syxx(x, time);
    d = lx(x, time);
    e = ly(y = time, x = x);
    f = lxy(x, time);
    g = sx(x);
    (h, w) = sx(x, time);
    k = p;
  end M;
end P;
