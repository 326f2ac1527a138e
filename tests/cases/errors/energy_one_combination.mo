model OneCombination
  // run: check
  // expect: exit 3
  // expect: 5:11: the Lagrangian leaves coordinates `x` and `y` undetermined
  Real x, y;
lagrangian
  (der(x) + 2*der(y))^2/2;
end OneCombination;
