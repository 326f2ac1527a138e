// A parameter gives a negative interval.
// run: check
// expect: exit 0
// run: simulate
// expect: exit 3
// expect: says sample(0, -2)
model M
  parameter Real T = -2; Integer n(start = 0, fixed = true);
equation
  when sample(0, T) then n = pre(n) + 1; end when;
end M;
