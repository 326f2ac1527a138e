model NotEqualOfC
  // run: check
  // expect: exit 3
  // expect: 7:12: not equal is written `<>`
  Boolean b;
equation
  b = time != 1;
end NotEqualOfC;
