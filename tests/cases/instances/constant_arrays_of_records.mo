// run: simulate --stop-time 1
// expect: s = 1 + 3 + 4 + 6 within 1e-7
package P
  record R
    Real a;
    Real b[2];
    String name;
  end R;
  constant R one = R(1, {2, 3},  "one" );
  constant R two(a = 4, b = {5, 6}, name =  "two" );
  partial package Base
    constant R data[:];
    constant String names[:] = data[:].name;
    constant Integer n = size(names, 1);
    function f
      input Real u;
      input Integer k;
      output Real y;
    algorithm
      y := data[k].a*u + data[k].b[2];
      while y > 50 loop
        y := y/2;
      end while;
    end f;
  end Base;
  package Both
    extends Base(data = {one, two});
  end Both;
end P;
model M
  Real y[P.Both.n] = {P.Both.f(time, i) for i in 1:P.Both.n};
  Real s = sum(y);
end M;
