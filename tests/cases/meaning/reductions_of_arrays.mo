// Only sum takes arrays; the other reductions take scalars.
// run: simulate
// expect: exit 3
// expect: says `product` with iterators
// run: simulate
// change: product -> min
// expect: exit 3
// expect: says `min` with iterators
// run: simulate
// change: product -> max
// expect: exit 3
// expect: says `max` with iterators
model M
  Real x = product({i, 2} for i in 1:3);
end M;
