model NotEqualOfC
  // expect: exit 3
  // expect: 6:12: not equal is written `<>`
  Boolean b;
equation
  b = time != 1;
end NotEqualOfC;
