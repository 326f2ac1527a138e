// Constant arrays inside functions are values: an assignment to a copy does not change the original.
// run: simulate --quiet --intervals 4 --tolerance 1e-9
// expect: y = ref within 1e-9 everywhere
// expect: z = 743*time + time^2 within 1e-6 everywhere
package P
  constant Real T[5] = {1, 2, 4, 8, 16};
  function f input Real u; output Real y;
  protected Real w[5] = T; Real m[2,2] = {{1,2},{3,4}};
  algorithm
    w[2] := u; y := 0;
    for i in 1:5 loop y := y + w[i]*T[i] + g(T, i)*m[1,2]; end for;
    m[1,2] := 7;
    while y > 1e3 loop y := y - 10*T[2]; end while;
    y := y + m[1,2] + m[2,1];
  end f;
  function g input Real a[:]; input Integer i; output Real y;
  protected Real b[:] = a;
  algorithm
    b[i] := {10, 20, 30, 40, 50}[i] + {{1, 2}, {3, 4}}[1 + mod(i, 2), 2];
    y := b[i] + T[i]; 
  end g;
  model M
    Real y = f(1 + time), z(start = 0, fixed = true), ref;
  equation
    der(z) = y;
    ref = 1 + 2*(1 + time) + 16 + 64 + 256 + 2*((10+4+1) + (20+2+2) + (30+4+4) + (40+2+8) + (50+4+16)) + 10;
  end M;
end P;
