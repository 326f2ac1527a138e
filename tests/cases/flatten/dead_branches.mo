package DeadBranches
  // Functions that read unassigned variables in branches that are never taken because of constants.
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'y' = 'x' + 3;
  function f
    input Real u;
    output Real y;
  protected
    constant Boolean yes = true;
    constant Boolean no = false;
    Real w;
    Real v;
  algorithm
    y := u;
    if no then
      y := w;
    end if;
    if yes then
      y := y + 1;
    else
      y := v;
    end if;
    y := y + (if true then 1 else v) + (if no then w else 1);
  end f;
  model M
    Real x(start = 1, fixed = true);
    Real y = f(x);
  equation
    der(x) = -x;
  end M;
end DeadBranches;
