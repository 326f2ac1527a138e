package UnassignedField
  // run: check
  // expect: exit 3
  // expect: 8:16: `a.y` has no value: nothing in function
  record A
    Real x = 1;
    Real y;
    Real z = 2*y;
  end A;
  function f
    input Real u;
    output Real s;
  protected
    A a;
  algorithm
    s := a.x + a.z + u;
  end f;
  model M
    Real r = f(time);
  end M;
end UnassignedField;
