model BreakOutsideOfLoop
  // run: check
  // expect: exit 3
  // expect: 8:3: `break`
  Real x;
algorithm
  x := 1;
  break;
end BreakOutsideOfLoop;
