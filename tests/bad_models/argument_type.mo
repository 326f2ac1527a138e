model ArgumentType
  // expect: exit 3
  // expect: 6:11: String
  Real x;
equation
  x = sin("hello");
end ArgumentType;
