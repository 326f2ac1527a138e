model Algorithm
  // A hysteresis and a counter in algorithms; a search whose loop depends on the state.
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'y' = if 'x' > 0.5 then 2*'x' else 'x' + 1;
  // expect: line 'on' = if 'x' > 0.8 then true elseif 'x' < 0.2 then false else pre('on');
  Real x(start = 0, fixed = true), y, root;
  Boolean on(start = false, fixed = true);
  Integer hits(start = 0, fixed = true), steps;
equation
  der(x) = cos(time);
algorithm
  y := x + 1;
  if x > 0.5 then
    y := y + x - 1;
  end if;
algorithm
  if x > 0.8 then
    on := true;
  elseif x < 0.2 then
    on := false;
  end if;
algorithm
  when on then
    hits := pre(hits) + 1;
  end when;
algorithm
  root := 1;
  steps := 0;
  while abs(root*root - 2 - x) > 1e-9 and steps < 50 loop
    root := (root + (2 + x)/root)/2;
    steps := steps + 1;
  end while;
end Algorithm;
