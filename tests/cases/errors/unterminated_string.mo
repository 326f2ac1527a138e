model UnterminatedString
  // run: check
  // expect: exit 3
  // expect: 5:24: unterminated string
  parameter String s = "abc;
  Real x;
equation
  x = 1;
end UnterminatedString;
