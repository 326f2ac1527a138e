// Equations determine the start value, so an option cannot set it.
// run: simulate --override x=1
// expect: exit 2
// expect: says equations of the model determine
model M
  parameter Real p(fixed = false);
  Real x(start = p, fixed = true);
initial equation
  p = 3;
equation
  der(x) = -x;
end M;
