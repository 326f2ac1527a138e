// Records with the same fields are compatible, whatever the order of the fields is.
// run: simulate
// expect: y = 123 within 1e-12
// run: flatten | simulate
// expect: y = 123 within 1e-12
// run: simulate
// change: Real c = 3 -> Real d = 3
// expect: exit 3
// expect: says expected
model RecordOrder
  record Given
    Real c = 3;
    Real a = 1;
    Real b = 2;
  end Given;
  record Wanted
    Real a, b, c;
  end Wanted;
  function f
    input Real factor;
    input Wanted wanted;
    output Real y = factor*(100*wanted.a + 10*wanted.b + wanted.c);
  end f;
  Given given;
  Real y = f(1, given);
end RecordOrder;
