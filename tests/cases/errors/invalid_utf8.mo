model InvalidUtf8
  // run: check
  // expect: exit 3
  // expect: 5:12: invalid UTF-8: byte 0xe4
  Real x "Länge";
equation
  x = 1;
end InvalidUtf8;
