// A protected output of a function is still an output: this gives a warning, with --strict an error.
// expect: says `y` of a function has the prefix `output`, and cannot be protected
// expect: z = 2
// run: check --strict
// expect: exit 3
// expect: says `y` of a function has the prefix `output`, and cannot be protected
model M
  function f
    input Real x;
  protected
    output Real y;
  algorithm
    y := 2*x;
  end f;
  Real z = f(time);
end M;
