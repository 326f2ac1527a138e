// run: check
// expect: exit 3
// expect: 6:18: depends on itself
// expect: says a -> b -> c -> a
model M
  parameter Real a = b, b = c + 1, c = a;
end M;
