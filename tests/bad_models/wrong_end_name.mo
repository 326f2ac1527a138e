model WrongEndName
  // expect: exit 3
  // expect: 7:5: wrong name behind `end`: expected `WrongEndName`, found `Wrong`
  Real x;
equation
  x = 1;
end Wrong;
