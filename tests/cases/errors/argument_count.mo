model ArgumentCount
  // run: check
  // expect: exit 3
  // expect: 7:7: atan2
  Real x;
equation
  x = atan2(1);
end ArgumentCount;
