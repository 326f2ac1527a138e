// run: check
// expect: exit 3
// expect: 14:20: expected Boolean
model M
  block A
    outer output Integer v;
  equation
    v = previous(v) + 1;
  end A;
  inner Integer v(start = 0);
  A a, b, c;
equation
  initialState(a);
  transition(a, b, v);
end M;
