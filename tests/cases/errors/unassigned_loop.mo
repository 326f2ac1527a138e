package UnassignedLoop
  // run: check
  // expect: exit 3
  // expect: 17:14: `z` has no value: nothing in function
  function f
    input Real u;
    output Real y;
  protected
    Boolean b;
    Real z;
  algorithm
    y := 0;
    for i in 1:3 loop
      if b then
        y := y + 1;
      else
        y := z + 2;
      end if;
      b := true;
    end for;
  end f;
  model M
    Real w = f(time);
  end M;
end UnassignedLoop;
