// x^2 + small has a minimum whenever x passes zero, and is never zero.
// The integral of 1/(cos(t)^2 + s) over one half period is pi/sqrt(s*(1 + s)); there are 6 of them, and a remaining time in which x does not pass zero.
// let: exact(s) = (6*pi + atan(tan(20 - 6*pi)*sqrt(s/(1 + s))))/sqrt(s*(1 + s))
// run: simulate --solver {erk,radau,bdf} --stop-time 20 --tolerance 1e-8
// expect: y/exact(1e-4) = 1 within 1e-3
// run: simulate --solver {erk,radau,bdf} --stop-time 20 --tolerance 1e-8
// change: x^2 + 1e-4 -> x^2 + 3e-5
// expect: y/exact(3e-5) = 1 within 1e-3
// run: simulate --solver {erk,radau,bdf} --stop-time 20 --tolerance 1e-8
// change: x^2 + 1e-4 -> x^2 + 1e-5
// expect: y/exact(1e-5) = 1 within 1e-3
// run: simulate --solver {erk,radau,bdf} --stop-time 20 --tolerance 1e-8
// change: x^2 + 1e-4 -> x^2 + 2e-6
// expect: y/exact(2e-6) = 1 within 1e-3
model M
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  (x^2 + 1e-4)*der(y) = 1;
end M;
