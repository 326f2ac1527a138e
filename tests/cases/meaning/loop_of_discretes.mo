// Each value of b satisfies the equations.
// run: check
// expect: says /`b` depends on itself without `pre`/
// run: check --strict
// expect: exit 4
// expect: says /`b` depends on itself without `pre`/
// run: simulate
// expect: says /`b` depends on itself without `pre`/
model M
  Boolean b, c;
  Integer n = if b then 1 else 2;
equation
  b = c;
  c = b;
end M;
