// A velocity that grows within steps: in no step do the contents pass the whole pipe.
// run: simulate --stop-time 5 --intervals 20 --solver {erk,radau,bdf}
// expect: b = max(0, time^3 - 1) within 1e-6 everywhere
model M
  Real x, a, b;
equation
  x = time^3;
  (a, b) = spatialDistribution(x, 0, x, true);
end M;
