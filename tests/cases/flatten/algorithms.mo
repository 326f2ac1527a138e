model Algorithms "algorithm sections, initial ones too"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'y' = 'x' + 'x'^2/2 + 'x'^3/3;
  // expect: line 'b' = if pre('n') + 1 > 3 then not pre('b') else pre('b');
  // expect: line 'n' = 3;
  // expect: line 'w' = 0.1;
  Real x(start = 1, fixed = true), y, z[2], w;
  Integer n(start = 0);
  parameter Real p(fixed = false);
  Boolean b(start = false);
initial equation
  p = 2*x;
initial algorithm
  n := 3;
equation
  der(x) = p - x;
algorithm
  y := 0;
  for i in 1:3 loop
    y := y + x^i/i;
  end for;
  if y > 1 then
    z := {y, 2*y};
  else
    z[1] := -y;
    z[2] := y^2;
  end if;
algorithm
  w := homotopy(0.1, 1);
  while w > 1 loop
    w := w/2;
  end while;
algorithm
  when sample(0, 0.5) then
    n := n + 1;
    if n > 3 then
      b := not b;
    end if;
  end when;
end Algorithms;
