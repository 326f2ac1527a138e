// Oscillations of any size are followed in the same way.
// run: simulate -q --solver {auto,radau} --tolerance 1e-6 --intervals 3 --stop-time 10
// change: x(start = 1, fixed = true, nominal = 1), v(start = 0, fixed = true, nominal = 1) -> x(start = 1, fixed = true, nominal = 1), v(start = 0, fixed = true, nominal = 1) | x(start = 1e-5, fixed = true, nominal = 1e-5), v(start = 0, fixed = true, nominal = 1e-5) | x(start = 1e-9, fixed = true, nominal = 1e-9), v(start = 0, fixed = true, nominal = 1e-9) | x(start = 1e6, fixed = true, nominal = 1e6), v(start = 0, fixed = true, nominal = 1e6)
// expect: says nothing
// expect: report.events = 64
// expect: s = 10 - 32*pi/20 within 1e-3
model Small  "an oscillation of any size, with its nominal value"
  Real x(start = 1, fixed = true, nominal = 1), v(start = 0, fixed = true, nominal = 1), s(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -400*x;
  der(s) = if x > 0 then 1 else 0;
end Small;
