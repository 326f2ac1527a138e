model SeveralErrors
  // expect: exit 3
  // expect: 7:12: expected an expression, found `;`
  // expect: 9:11: expected an expression, found `;`
  // expect: 11:11: expected `=` in an equation, found `;`
  // expect: 12:5: wrong name behind `end`
  Real x = ;
equation
  x = 1 + ;
  x = 2;
  x = 2; 3;
end SeveralModels;
