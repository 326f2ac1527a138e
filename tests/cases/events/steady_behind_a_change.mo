model SteadyBehindAChange "The steady state lies in another structure of the equations than the start: x = 0.1, where v = 0.1 - x"
  // run: steady
  // expect: prints by integration
  // expect: prints /\n  x +0\.1\n/
  // expect: prints /\n  f +0\.1\n/
  Real x(start = 1, fixed = true), v(start = 1, fixed = true), f;
  Boolean is_far(start = true, fixed = true);
equation
  is_far = x > 0.2;
  der(x) = v;
  if is_far then
    der(v) = -x - v;
    f = 0;
  else
    v = 0.1 - x;
    f = der(v) + x;
  end if;
end SteadyBehindAChange;
