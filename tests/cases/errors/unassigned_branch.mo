package UnassignedBranch
  // run: check
  // expect: exit 3
  // expect: 14:21: `w` has no value: nothing in function
  function f
    input Real u;
    output Real y;
  protected
    Boolean no = false;
    Real w;
  algorithm
    y := u;
    no := u > 1;
    y := if no then w else u;
  end f;
  model M
    Real r = f(time);
  end M;
end UnassignedBranch;
