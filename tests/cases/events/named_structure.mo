// run: simulate -v
// expect: says /event at t = 0.5: the equations have changed\n/
model M
  Real a(start = 2, fixed = true), b(start = 0, fixed = true), i;
equation
  der(a) = -i;
  der(b) = i;
  0 = if time < 0.5 then i else a - b;
end M;
