model MissingEnd
  // expect: exit 3
  // expect: 6:9: the file ends before `end MissingEnd;`
  Real x;
equation
  x = 1;
