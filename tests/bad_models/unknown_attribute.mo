model UnknownAttribute
  // expect: exit 3
  // expect: 4:10: `colour`
  Real x(colour = 3);
equation
  x = 1;
end UnknownAttribute;
