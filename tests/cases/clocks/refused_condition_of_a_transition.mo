// run: check
// expect: exit 3
// expect: 14:7: condition of a transition
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
  v = ticksInState();
end M;
