// A parameter without a value, and an initial equation that contradicts its default 0.
// expect: exit 5
// expect: says `k` has no value: 0 is used
// expect: says `k = 2` could not be satisfied together with the others
model Unset
  parameter Real k;
initial equation
  k = 2;
end Unset;
