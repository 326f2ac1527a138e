model UnterminatedName
  // run: check
  // expect: exit 3
  // expect: 5:8: unterminated quoted name
  Real 'abc;
equation
  abc = 1;
end UnterminatedName;
