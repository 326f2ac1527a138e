model UnterminatedString
  // expect: exit 3
  // expect: 4:24: unterminated string
  parameter String s = "abc;
  Real x;
equation
  x = 1;
end UnterminatedString;
