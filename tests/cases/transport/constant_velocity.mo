// A delay by 1/v, at either end, in equations of every index.
// let: late = sin(3*(time - 2)) if time > 2 else 0
// run: simulate --stop-time 6 --intervals 30 --solver {auto,erk,radau,bdf,ida,cvode}
// expect: a = sin(3*time) within 1e-4 everywhere
// expect: b = late within 1e-4 everywhere
// expect: c = late within 1e-4 everywhere
// expect: d = sin(3*time) within 1e-4 everywhere
// run: simulate --stop-time 6 --intervals 30 --method {dummy,minimal,projection,underlying,strangeness,none}
// expect: a = sin(3*time) within 1e-4 everywhere
// expect: b = late within 1e-4 everywhere
// expect: c = late within 1e-4 everywhere
// expect: d = sin(3*time) within 1e-4 everywhere
// run: simulate --stop-time 6 --intervals 30 --compile
// expect: a = sin(3*time) within 1e-4 everywhere
// expect: b = late within 1e-4 everywhere
// expect: c = late within 1e-4 everywhere
// expect: d = sin(3*time) within 1e-4 everywhere
model M
  Real x(start=0.3, fixed=true), a, b, c, d;
  parameter Real v = 0.5;
equation
  der(x) = v;
  (a, b) = spatialDistribution(sin(3*time), 7, x, v >= 0);
  (c, d) = spatialDistribution(7, sin(3*time), -x, not v >= 0);
end M;
