// y' + y = x'^2 with x = sin(10 t): the row of x converges in one iteration, that of y does not.
// run: simulate --stop-time 5 --intervals 1 --tolerance {1e-6,1e-9} --solver {erk,radau,bdf,ida,cvode}
// let: exact = 50 + 50*(cos(100) + 20*sin(100))/401 - (50 + 50/401)*exp(-5)
// expect: y = exact within 100*option.tolerance*exact
model M
  Real x, y(start=0, fixed=true);
equation
  x = sin(10*time);
  der(y) + y = der(x)^2;
end M;
