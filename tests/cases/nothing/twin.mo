// An equation without variables that holds where it is defined.
// expect: exit 4
// expect: says 1 equation for 0 variables: 1 too many
model Twin
equation
  sqrt(time - 1) = sqrt(time - 1);
end Twin;
