// run: check
// expect: exit 3
// expect: 14:3: both initial states
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
  initialState(b);
  transition(a, b, v > 3, immediate = false);
end M;
