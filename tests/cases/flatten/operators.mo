model Operators
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'a' = delay('x', 0.5);
  // expect: line 'b' = noEvent(if 'x' > 0 then sqrt('x') else 0);
  // expect: line 'c' = smooth(1, if 'x' > 0 then 'x'^2 else 0);
  // expect: line 'd' = homotopy('x', 0);
  // expect: line 'e' = semiLinear('x', 2, 3);
  // expect: line 'f' = initial() or terminal() or sample(0, 0.1);
  // expect: line 'g' = div('n', 2) + mod('n', 3) + rem('n', 4);
  // expect: line 'h' = abs('x') + sign('x') + min('x', 1) + max('x', 2) + floor('x') + ceil('x') + integer('x');
  // expect: line 'i' = log10('x') + sinh('x') + atan2('x', 2) + acos('x'/10);
  Real x(start = 1), a, b, c, d, e, h, i;
  Boolean f;
  Integer n, g;
equation
  der(x) = -x;
  a = delay(x, 0.5);
  b = noEvent(if x > 0 then sqrt(x) else 0);
  c = smooth(1, if x > 0 then x^2 else 0);
  d = homotopy(actual = x, simplified = 0);
  e = semiLinear(x, 2, 3);
  f = initial() or terminal() or sample(0, 0.1);
  n = integer(10*x);
  g = div(n, 2) + mod(n, 3) + rem(n, 4);
  h = abs(x) + sign(x) + floor(x) + ceil(x) + integer(x) + min(x, 1) + max({x, 2});
  i = atan2(x, 2) + sinh(x) + acos(x/10) + log10(x);
end Operators;
