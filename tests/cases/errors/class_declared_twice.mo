model ClassDeclaredTwice
  // run: check
  // expect: exit 3
  // expect: 6:12: `f`
  function f input Real u; output Real y; algorithm y := u; end f;
  function f input Real u; output Real y; algorithm y := -u; end f;
  Real x;
equation
  x = f(time);
end ClassDeclaredTwice;
