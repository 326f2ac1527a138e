model SubscriptOutOfRange
  // expect: exit 3
  // expect: 7:
  Real x[3];
equation
  x[1:2] = {1, 2};
  x[4] = 3;
end SubscriptOutOfRange;
