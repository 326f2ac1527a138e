// An equation without variables that is not defined.
// expect: exit 4
// expect: says 1 equation for 0 variables: 1 too many
model Undefined
  Real x[0];
equation
  sqrt(-1 - time) = 1;
end Undefined;
