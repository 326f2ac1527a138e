model Events
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line when {'h' < 0, 'n' > 100} then
  // expect: line reinit('v', -0.8*pre('v'));
  // expect: line elsewhen time > 3 then
  // expect: line assert('h' < 10, "too high: " + String('h'));
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Boolean flying = h > 0.1 or v > 0;
equation
  der(h) = v;
  der(v) = if flying then -9.81 else 0;
  when {h < 0, n > 100} then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  elsewhen time > 3 then
    n = 0;
    terminate("three seconds");
  end when;
  assert(h < 10, "too high: " + String(h));
end Events;
