model UndefinedName
  // run: check
  // expect: exit 3
  // expect: 7:12: `speed`
  Real x;
equation
  der(x) = speed + 1;
end UndefinedName;
