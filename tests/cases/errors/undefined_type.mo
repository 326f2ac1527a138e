model UndefinedType
  // run: check
  // expect: exit 3
  // expect: 5:3: `Length`
  Length x;
equation
  x = 1;
end UndefinedType;
