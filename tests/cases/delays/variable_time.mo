// A delay time that depends on the delayed variable.
// run: simulate --stop-time 5 --intervals 50 --solver {auto,erk,radau,bdf,ida,cvode}
// expect: y = sin(max(0, time - T)) within 1e-4 everywhere
// expect: T = 0.5 + 0.3*sin(y) within 1e-9 everywhere
model M
  Real x(start=0, fixed=true), T, y;
equation
  der(x) = cos(time);
  T = 0.5 + 0.3*sin(y);
  y = delay(x, T, 2);
end M;
