model UnknownEscape
  // run: check
  // expect: exit 3
  // expect: 5:27: unknown escape
  parameter String s = "C:\users";
  Real x;
equation
  x = 1;
end UnknownEscape;
