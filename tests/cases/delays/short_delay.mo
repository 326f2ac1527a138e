// Steps are not longer than a delay: x' = -x(t - T) approaches exp(s t) with s = -exp(-s T).
// run: simulate --stop-time 1 --intervals 10 --solver {auto,radau,bdf}
// let: rate = -1.001001502671886
// expect: rate = -exp(-rate*1e-3) within 1e-14
// expect: x = exp(rate*time) within 2e-3 everywhere
model M
  Real x(start=1, fixed=true);
equation
  der(x) = -delay(x, 1e-3);
end M;
