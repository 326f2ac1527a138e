// Before the start, a delay has its value at the start, even if that value must be found together with the delay.
// run: simulate --stop-time 0.5
// expect: x = 3 - 2*time within 1e-9 everywhere
model M
  Real x(start=0), y;
equation
  der(x) = 1 - y;
  y = delay(x, 1);
initial equation
  y = 3;
end M;
