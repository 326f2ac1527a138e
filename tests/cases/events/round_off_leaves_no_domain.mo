// A field that is nearly zero changes its direction: round-off may give it a size below zero.
// run: simulate --stop-time 3 --solver erk
// expect: b + h = 1 within 1e-6
model Field
  Real x(start=1, fixed=true), b, n, h, m, u = 1e-25*sin(5*time) + (if time > 2 then (time - 2)^2 else 0);
equation
  b + h = u;
  n = abs(b);
  m = 1 + n^1.5;
  h = b*m;
  der(x) = -x + h;
end Field;
