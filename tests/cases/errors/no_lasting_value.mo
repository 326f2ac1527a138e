// A discrete variable whose equation never settles is named, although there is no when.
// run: simulate
// expect: exit 6
// expect: says the value of `k` changes again and again
// expect: never says of a when
// run: simulate
// change: k = pre(k) + 1 -> k = 1 - k
// expect: exit 6
// expect: says the value of `k` changes again and again
// run: simulate
// change: k = pre(k) + 1 -> k = if time < 0.5 then 0 else pre(k) + 1
// expect: exit 6
// expect: says changes again and again
model M
  Integer k(start = 0);
equation
  k = pre(k) + 1;
end M;
