package UnassignedElse
  // run: check
  // expect: exit 3
  // expect: 18:12: `z` has no value: nothing in function
  function f
    input Real u;
    output Real y;
  protected
    Boolean b;
    Real z;
  algorithm
    if u > 0.5 then
      b := true;
    end if;
    if b then
      y := 1;
    else
      y := z + 2;
    end if;
  end f;
  model M
    Real w = f(time);
  end M;
end UnassignedElse;
