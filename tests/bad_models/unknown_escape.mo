model UnknownEscape
  // expect: exit 3
  // expect: 4:27: unknown escape
  parameter String s = "C:\users";
  Real x;
equation
  x = 1;
end UnknownEscape;
