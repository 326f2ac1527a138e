model UnknownAttribute
  // run: check
  // expect: exit 3
  // expect: 5:10: `colour`
  Real x(colour = 3);
equation
  x = 1;
end UnknownAttribute;
