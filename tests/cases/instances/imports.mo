// run: simulate --stop-time 1
// expect: x = 15 within 0.00015
package P
  constant Real a = 2;
  constant Real b = 3;
  package Q
    constant Real c = 4;
  end Q;
  function f
    input Real x;
    output Real y;
  algorithm
    y := a*x;
  end f;
end P;
model M
  import P.a;
  import B = P.b;
  import P.Q.*;
  import P.{f, Q};
  Real x = a + B + c + f(1) + Q.c;
end M;
