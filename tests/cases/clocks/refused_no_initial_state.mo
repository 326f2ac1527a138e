// run: check
// expect: exit 3
// expect: 13:3: no initial state
model M
  block A
    outer output Integer v;
  equation
    v = previous(v) + 1;
  end A;
  inner Integer v(start = 0);
  A a, b, c;
equation
  transition(a, b, v > 3, immediate = false);
end M;
