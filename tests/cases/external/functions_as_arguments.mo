// Functions as arguments, with some of their inputs given or none, passed on, in loops that only a run knows.
// run: simulate --quiet --intervals 20
// expect: y = 2^(1/3) within 1e-9*2^(1/3) everywhere
// expect: z = time/3 within 1e-9 everywhere
// expect: v = 2*time/3 within 1e-9 everywhere
// expect: w = 5*time within 1e-12*max(1, 5*time) everywhere
// expect: d = 5 within 5e-12 everywhere
// run: simulate
// change: line(a = 3, -> line(q = 3,
// expect: exit 3
// expect: says `line` is not a function with the inputs
// run: simulate
// change: function line(a = 3 -> function absent(a = 3
// expect: exit 3
// expect: says function `absent` is not defined
// run: flatten
// expect: exit 0
package P
  partial function scalar
    input Real u;
    output Real y;
  end scalar;
  function line
    input Real a;
    input Real u;
    input Real b[:];
    output Real y;
  algorithm
    y := a*u - b[1];
  end line;
  function cubic
    input Real u;
    output Real y;
  algorithm
    y := u^3 - 2;
  end cubic;
  function bisect
    input scalar f;
    input Real low;
    input Real high;
    output Real x;
  protected
    Real a = low, b = high, m;
  algorithm
    while b - a > 1e-12 loop
      m := (a + b)/2;
      if f(m)*f(b) > 0 then
        b := m;
      else
        a := m;
      end if;
    end while;
    x := (a + b)/2;
  end bisect;
  function twice
    input scalar f;
    input Real u;
    output Real y;
  algorithm
    y := f(f(u));
  end twice;
  function passOn
    input scalar f;
    input Real u;
    output Real y;
  algorithm
    y := twice(f, u);
  end passOn;
  model M
    parameter Real p = 3;
    Real y = bisect(cubic, 0, 2), z = bisect(function line(a = p, b = {time, 1}), -5, 5);
    Real v = bisect(function line(a = p, b = {2*time}), -5, 5), w = passOn(function line(a = 3, b = {time}), time), d = der(w);
  end M;
end P;
