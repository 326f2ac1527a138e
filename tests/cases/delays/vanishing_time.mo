// A delay time that becomes zero.
// run: simulate --stop-time 10 --intervals 100
// expect: y = sin(max(0, time - 0.5*(1 - cos(time)))) within 1e-5 everywhere
model M
  Real x(start=0, fixed=true), y;
equation
  der(x) = cos(time);
  y = delay(x, 0.5*(1 - cos(time)), 1);
end M;
