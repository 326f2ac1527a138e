model Events "when, if, discrete variables of all types, asserts"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'mode' = if pre('mode') == 'Mode'.'low' then 'Mode'.'high' else 'Mode'.'low';
  // expect: line when {'x' > 'limit', initial()} then
  // expect: line reinit('x', 0.9*'x');
  // expect: line if 'y' > 100 then assert(false, "y is too large"); end if;
  // expect: line assert('x' < 10, "x = " + String('x'), AssertionLevel.warning);
  // expect: line 'Mode' 'mode'(start = 'first', fixed = true);
  type Mode = enumeration(low, high);
  parameter Real limit(min = 0) = 0.5 "switching level";
  parameter Mode first = Mode.low;
  discrete Real last(start = 0);
  Integer count(start = 0, fixed = true);
  Boolean on(start = false, fixed = true), tick;
  Mode mode(start = first, fixed = true);
  Real x(start = 0, fixed = true), y;
equation
  der(x) = if on then 1 - x elseif mode == Mode.high then -x else 0.5;
  y = smooth(0, if x > limit then x - limit else 0) + noEvent(abs(x)) + delay(x, 0.1);
  tick = sample(0, 0.25);
  when {x > limit, initial()} then
    count = pre(count) + 1;
    mode = if pre(mode) == Mode.low then Mode.high else Mode.low;
  elsewhen x < 0.1 then
    count = 0;
    mode = Mode.low;
  end when;
  when tick then
    last = x;
    on = not pre(on);
    reinit(x, 0.9*x);
  end when;
  if y > 100 then
    assert(false, "y is too large");
  end if;
  assert(x < 10, "x = " + String(x), AssertionLevel.warning);
  when count > 1000 then
    terminate("enough");
  end when;
end Events;
