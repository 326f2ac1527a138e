// Equations determine the start value: an option cannot.
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
