model UnterminatedName
  // expect: exit 3
  // expect: 4:8: unterminated quoted name
  Real 'abc;
equation
  abc = 1;
end UnterminatedName;
