// run: simulate --stop-time 1 --tolerance 1e-8 --solver {erk,radau,bdf,ida,cvode}
// expect: x = exp(-time) within 1e-6 everywhere
// expect: x = z within 1e-12 everywhere
model M
  Real x(start=1, fixed=true);
  Real z(start=1);
equation
  der(x) = -z;
  z + z^3 = x + x^3;
end M;
