package UnassignedLocal
  // run: check
  // expect: exit 3
  // expect: 11:12: `y` has no value: nothing in function
  function f
    input Real u;
    output Real s;
  protected
    Real y;
  algorithm
    s := u*y;
  end f;
  model M
    Real r = f(time);
  end M;
end UnassignedLocal;
