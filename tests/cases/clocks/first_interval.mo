// interval() at the first tick of a clock whose interval varies is the start value of that interval (Modelica Language
// Specification 3.6, 16.10); two clocks with the same whole numbers are one clock.
// run: simulate --stop-time 1
// expect: a = 0.2 at 0.1
// expect: a = 0.3 within 1e-12 at 0.6
// expect: a = 0.4 within 1e-12
// expect: b = 0.25 at 0.1
// expect: b = 0.5 within 1e-12 at 0.6
// expect: c = 11
model FirstInterval
  Integer n(start = 2), c(start = 0);
  Real h(start = 0.25), a, b;
  Real u, v;
equation
  when Clock(n, 10) then
    n = previous(n) + 1;
    a = interval();
  end when;
  when Clock(h) then
    h = 2*previous(h);
    b = interval(h);
  end when;
  u = sample(time, Clock(1, 10));
  v = sample(2*time, Clock(2, 20));
  c = previous(c) + (if u + v > -1 then 1 else 0);
end FirstInterval;
