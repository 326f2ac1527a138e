// A guess that is bound to a parameter has the value of that parameter, even if initialization determines it.
// run: simulate
// expect: x = -3 within 1e-9 at start
// expect: y = 6 within 1e-9 at start
// expect: y = 7 within 1e-6
model StartOfFreeParameter
  parameter Real p(fixed = false, start = 1), q = 2*p;
  Real x(start = -p), y(start = q);
initial equation
  p^3 = 27;
equation
  x*x = 9;
  der(y) = 1;
end StartOfFreeParameter;
