// run: simulate --stop-time 5 --tolerance 1e-9
// expect: x = cos(2*time) within 1e-7 everywhere
model M
  Real x(start=1, fixed=true);
  Real v(start=0, fixed=true);
equation
  der(der(x)) = -4*x;
  v = der(x);
end M;
