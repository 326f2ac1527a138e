model ArgumentType
  // run: check
  // expect: exit 3
  // expect: 7:11: String
  Real x;
equation
  x = sin("hello");
end ArgumentType;
