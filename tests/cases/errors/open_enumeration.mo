model OpenEnumeration
  // run: check
  // expect: exit 3
  // expect: 12:3: `E` has no literals
  // expect: 7:11: `E` has no literals
  function f
    input E e;
    output Real y;
  algorithm
    y := if e == e then 1 else 2;
  end f;
  E e;
  type E = enumeration(:);
  Real x;
equation
  x = f(e);
end OpenEnumeration;
