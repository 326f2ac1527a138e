model MissingEnd
  // run: check
  // expect: exit 3
  // expect: 7:9: the file ends before `end MissingEnd;`
  Real x;
equation
  x = 1;
