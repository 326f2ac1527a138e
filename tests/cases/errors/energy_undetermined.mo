model Undetermined
  // run: check
  // expect: exit 3
  // expect: 5:11: the Lagrangian leaves coordinate `y` undetermined
  Real x, y;
lagrangian
  der(x)^2 + der(y)*y;
end Undetermined;
