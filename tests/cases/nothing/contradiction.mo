// Two initial equations for one parameter.
// expect: exit 5
// expect: says `k = 2` could not be satisfied together with the others
model Contradiction
  parameter Real k(fixed = false);
initial equation
  k = 1; k = 2;
end Contradiction;
