// x' = -x(t - 1), x = 1 before 0.
// let: by_steps(t) = sum((-1)^k*(t - (k - 1))^k/factorial(k) for k in range(integer(t) + 2))
// run: simulate --stop-time 5 --intervals 50 --solver {auto,erk,radau}
// expect: x = by_steps(time) within 3e-6 everywhere
// run: simulate --stop-time 5 --intervals 50 --solver {bdf,ida,cvode}
// expect: x = by_steps(time) within 5e-5 everywhere
// run: simulate --stop-time 5 --intervals 50 --method {dummy,minimal,projection,underlying,strangeness,none}
// expect: x = by_steps(time) within 1e-5 everywhere
// run: simulate --stop-time 5 --intervals 50 --compile
// expect: x = by_steps(time) within 1e-6 everywhere
model M
  Real x(start=1, fixed=true);
equation
  der(x) = -delay(x, 1);
end M;
