// A valve that closes and opens: its flow factor k is 0, or 0 up to round-off of Newton's method, and k^0.25 is not defined below 0.
// run: simulate --stop-time 5 --solver radau
// expect: s = 0.3 + 0.5*sin(15) within 1e-4
// expect: x = 0.00043180883768486559 within 1e-6
// run: simulate --stop-time 5 --solver radau --tolerance 1e-4
// expect: x = 0.00043180883768486559 within 1e-5
model Valve
  Real x(start = 0, fixed = true), s(start = 0.3, fixed = true), opening, k, k1, d;
equation
  der(s) = 1.5*cos(3*time);
  opening = max(min(s, 1), 0);
  k = 8.5*opening^2*1e-12;
  k1 = k + 0*x;
  d = (8*k1*2/9.8)^0.25;
  der(x) = 1000*(d*cos(time) - x);
end Valve;
