model ArgumentCount
  // expect: exit 3
  // expect: 6:7: atan2
  Real x;
equation
  x = atan2(1);
end ArgumentCount;
