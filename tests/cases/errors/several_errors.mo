model SeveralErrors
  // run: check
  // expect: exit 3
  // expect: 8:12: expected an expression, found `;`
  // expect: 10:11: expected an expression, found `;`
  // expect: 12:11: expected `=` in an equation, found `;`
  // expect: 13:5: wrong name after `end`
  Real x = ;
equation
  x = 1 + ;
  x = 2;
  x = 2; 3;
end SeveralModels;
