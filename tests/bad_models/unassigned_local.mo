package UnassignedLocal
  // expect: exit 3
  // expect: 10:12: `y` has no value: nothing in function
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
