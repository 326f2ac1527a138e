model BreakOutsideOfLoop
  // expect: exit 3
  // expect: 7:3: `break`
  Real x;
algorithm
  x := 1;
  break;
end BreakOutsideOfLoop;
