model Discrete "Final equations beside a when-clause are refused by name and place"
  // run: simulate
  // expect: exit 3
  // expect: 13:3: final equations of a model with discrete variables or when
  Real x(start = 0, fixed = true), v(start = 1), n(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -1;
  when time > 0.5 then
    n = pre(n) + 1;
  end when;
final equation
  x = 0;
end Discrete;
