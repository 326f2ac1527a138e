model UndefinedName
  // expect: exit 3
  // expect: 6:12: `speed`
  Real x;
equation
  der(x) = speed + 1;
end UndefinedName;
