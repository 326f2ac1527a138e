model AssignmentInEquation
  // expect: exit 3
  // expect: 6:5: an equation is written with `=`
  Real x;
equation
  x := 3;
end AssignmentInEquation;
