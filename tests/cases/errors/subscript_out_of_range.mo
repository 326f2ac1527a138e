model SubscriptOutOfRange
  // run: check
  // expect: exit 3
  // expect: 8:
  Real x[3];
equation
  x[1:2] = {1, 2};
  x[4] = 3;
end SubscriptOutOfRange;
