// The second argument of size is called i.
// run: check
// expect: exit 3
// expect: says no argument of this name
// run: simulate
// expect: exit 3
// expect: says no argument of this name
model M
  Real x[3] = {1, 2, 3}; Integer n = size(x, dim = 1);
end M;
