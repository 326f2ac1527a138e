model Undetermined
  // expect: exit 3
  // expect: 4:11: the Lagrangian leaves coordinate `y` undetermined
  Real x, y;
lagrangian
  der(x)^2 + der(y)*y;
end Undetermined;
