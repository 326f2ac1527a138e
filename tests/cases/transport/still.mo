// Without flow the ends keep their values; then the contents move on.
// run: simulate --stop-time 4 --intervals 40 --tolerance 1e-7 --solver {erk,radau,bdf}
// expect: b = (0 if time < 2 else time - 2 if time < 3 else time - 1) within 1e-6 where min(abs(time - 1), abs(time - 2), abs(time - 3)) > 1e-4
model M
  Real x(start=0, fixed=true), v, a, b;
equation
  v = if time < 1 then 1 elseif time < 2 then 0 else 1;
  der(x) = v;
  (a, b) = spatialDistribution(time, 0, x, v >= 0);
end M;
