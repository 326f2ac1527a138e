// run: simulate -v
// expect: says /event at t = 0: the start\n/
// expect: says /event at t = 0.25: a sample, a delay or an input\n/
model M
  discrete Real y(start = 0, fixed = true);
  Real x(start = 1, fixed = true);
equation
  der(x) = y - x;
  when sample(0.25, 0.5) then
    y = x;
  end when;
end M;
