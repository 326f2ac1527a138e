model Ball
  Real h(start = 1, fixed = true), v(start = 0, fixed = true, nominal = 10, stateSelect = StateSelect.prefer);
  discrete Integer count(start = 0, fixed = true);
  Boolean flying(start = true);
  Real u = smooth(1, noEvent(if h < 0 then 0 else h)) + homotopy(h^2, h) + semiLinear(v, 1, 2);
initial equation
  pre(flying) = true;
equation
  der(h) = v;
  der(v) = if flying then -9.81 else 0;
  flying = not (h <= 0 and v <= 0) or edge(flying);
  when {h < 0, sample(0, 0.1)} then
    reinit(v, -0.8*pre(v));
    count = pre(count) + 1;
  elsewhen change(flying) then
    count = 0;
  end when;
  if count > 10 then
    assert(h > -1, "fell through at " + String(time), AssertionLevel.warning);
  end if;
algorithm
  when terminal() then
    terminate("done");
  end when;
end Ball;
