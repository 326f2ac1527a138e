model Loops "an algorithm section whose loop depends on the data, and whens that assign the same variable"
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line while 'y' > 0.01 loop
  // expect: line 'z[2]' = ('algorithm1$3'('x', 0, pre('n'), {0, 0}))[2];
  // expect: line algorithm
  // expect: line 'm' := pre('m') + 1;
  // expect: line 'm' := 'm' + 10;
  Real x(start = 1, fixed = true), y, z[2];
  Integer n, m(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
equation
  der(x) = -x;
algorithm
  y := x;
  n := 0;
  while y > 0.01 loop
    y := y/2;
    n := n + 1;
    z[1 + mod(n, 2)] := y;
  end while;
algorithm
  when x < 0.5 then
    m := m + 1;
  end when;
  when x < 0.25 then
    m := m + 10;
    b := true;
  end when;
end Loops;
