// A kink of a constraint that only one mode has causes an event, or a warning if that mode was not tried.
// run: simulate -q --method {dummy,minimal,projection,underlying,none} --stop-time 1 --tolerance 1e-8
// expect: says nothing
// expect: report.diagnostics = []
// expect: v = 3/7 within 1e-6
// expect: w = 2/7 within 1e-6
// run: simulate --method {dummy,minimal,projection,underlying,none} --stop-time 1 --tolerance 1e-8
// change: if time < 0.2 then l else x + 2*y - k -> if time > 0.1 then (if time < 0.2 then l else (if time > 0.15 then (if time < 0.25 then l else x + 2*y - k) else l)) else l
// expect: exit 0 or 5 or 6
// expect: says write the kinks as if-expressions
model M
  Real z(start = -0.5, fixed = true), x(start = 0, fixed = true), y(start = 0, fixed = true), v(start = 0, fixed = true), w(start = 0, fixed = true), l, k;
equation
  der(z) = 1;
  der(x) = v;
  der(y) = w;
  der(v) = l;
  3*der(w) = 2*l;
  k = max(0, z);
  0 = if time < 0.2 then l else x + 2*y - k;
end M;
