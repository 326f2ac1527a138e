// run: simulate --stop-time 2 --tolerance 1e-8 --solver {erk,radau,bdf,ida,cvode}
// expect: x = exp(-3*time) within 2e-6 everywhere
model M
  Real x(start=1, fixed=true);
equation
  der(x) = -3*x;
end M;
