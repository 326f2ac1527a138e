// An initial equation without an unknown.
// expect: exit 5
// expect: says `1 = time` could not be satisfied together with the others
model Time
initial equation
  1 = time;
end Time;
