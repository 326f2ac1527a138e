// run: simulate --sensitivity a
// expect: exit 2
// expect: says sample
model M
  parameter Real a = 0.1;
  discrete Real x(start = 0);
equation
  when sample(0, a) then
    x = pre(x) + 1;
  end when;
end M;
