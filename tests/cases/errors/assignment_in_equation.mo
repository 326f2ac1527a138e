model AssignmentInEquation
  // run: check
  // expect: exit 3
  // expect: 7:5: an equation is written with `=`
  Real x;
equation
  x := 3;
end AssignmentInEquation;
