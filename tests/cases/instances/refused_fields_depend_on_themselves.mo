// run: check
// expect: exit 3
// expect: says depends on itself
model M
  record R
    Real a = b;
    Real b = a;
  end R;
  function f
    input Real u;
    output Real y;
  protected
    R r;
  algorithm
    y := u + r.a;
  end f;
  Real x = f(time);
end M;
