// Built-in classes are found by the type of a component, without a call of a constructor or function, even for arrays without elements.
// run: simulate
// expect: x = 2 within 1e-12
// run: simulate
// change: Complex a; -> Complex a; Complex none[0], sums[0] = none + none, turned[0] = -none, doubled[0] = 2*none;
// expect: x = 2 within 1e-12
// run: simulate
// change: Real x; -> Modelica.Units.SI.Length x;
// expect: x = 2 within 1e-12
// run: simulate
// change: Real x; -> type Place = Modelica.Units.SI.Length; Place x;
// expect: x = 2 within 1e-12
// run: simulate
// change: x = 2*a.re; -> x = f(a);
// change: Real x; -> function f input Complex z; output Real y = z.re + z.im; end f; Real x;
// expect: x = 2 within 1e-12
model M
  Complex a;
  Real x;
equation
  a.re = time;
  a.im = 1;
  x = 2*a.re;
end M;
