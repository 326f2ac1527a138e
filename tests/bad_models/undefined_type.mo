model UndefinedType
  // expect: exit 3
  // expect: 4:3: `Length`
  Length x;
equation
  x = 1;
end UndefinedType;
