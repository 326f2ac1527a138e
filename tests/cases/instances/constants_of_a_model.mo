// Functions see the constants of their model before those of packages around it; functions outside the model do not see them. A flat text, and
// one with instances.
// run: simulate --stop-time 1
// expect: x = 14 within 0.00014
// expect: y = 101 within 0.00101
// expect: z = 3 within 3e-05
// run: flatten | simulate --stop-time 1
// expect: x = 14 within 0.00014
// expect: y = 101 within 0.00101
// expect: z = 3 within 3e-05
// run: simulate --stop-time 1
// change: // more -> inner Real q = 1;
// expect: x = 14 within 0.00014
// expect: y = 101 within 0.00101
// expect: z = 3 within 3e-05
// run: flatten | simulate --stop-time 1
// change: // more -> inner Real q = 1;
// expect: x = 14 within 0.00014
// expect: y = 101 within 0.00101
// expect: z = 3 within 3e-05
package P
  constant Real k = 100;
  function g
    input Real u;
    output Real y;
  algorithm
    y := u + k;
  end g;
  model M
    constant Real k = 3;
    constant Integer n = 2;
    constant Real v[n] = {k, 2*k};
    type E = enumeration(a, b);
    constant E e = E.b;
    // more
    function f
      input Real u[n];
      output Real y;
    protected
      Real w[n] = n*u;
    algorithm
      y := sum(w) + k + v[2] + (if e == E.b then 1 else 0);
      while y > 1e9 loop
        y := y/2;
      end while;
    end f;
    Real x = f({time, 1}), y = g(time), z = k;
  end M;
end P;
