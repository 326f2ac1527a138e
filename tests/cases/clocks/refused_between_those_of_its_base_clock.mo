// run: check
// expect: exit 3
// expect: 8:7: between the ticks of its base clock
model M
  Real x, y;
equation
  x = sample(time, Clock(sin(time) > 0));
  y = superSample(x, 2);
end M;
