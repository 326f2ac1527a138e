// run: check
// expect: exit 3
// expect: 15:3: have priority 1
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
  transition(a, b, v > 3);
  transition(a, c, v > 4);
end M;
