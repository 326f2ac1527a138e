model ConditionNotBoolean
  // run: check
  // expect: exit 3
  // expect: 7:10: Boolean
  Real x;
equation
  x = if time then 1 else 2;
end ConditionNotBoolean;
