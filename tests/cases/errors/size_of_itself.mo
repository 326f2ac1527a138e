// A size that is declared by itself is taken from the value; --strict refuses it.
model SizeOfItself
  // run: check --strict
  // expect: exit 3
  // expect: 8:10: depends on itself
  // run: check
  // expect: exit 0
  Real x[size(x, 1)] = {1, 2, 3};
  Real y[:, size(y, 1)] = identity(2);
end SizeOfItself;
