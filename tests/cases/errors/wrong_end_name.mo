model WrongEndName
  // run: check
  // expect: exit 3
  // expect: 8:5: wrong name after `end`: expected `WrongEndName`, found `Wrong`
  Real x;
equation
  x = 1;
end Wrong;
