// Connectors of old libraries have more flow than potential variables; a model with such connectors may be balanced nevertheless.
// run: simulate
// expect: says warning: connector `a.c` has 2 flow variables and 0 potential variables
// expect: a.c.p = -2
// run: check --strict
// expect: exit 3
// expect: says there must be as many of both
connector C
  flow Real p;
  flow Real q;
end C;

model A
  C c;
end A;

model B
  C c;
equation
  c.p = 2;
  c.q = time;
end B;

model M
  A a;
  B b;
equation
  connect(a.c, b.c);
end M;
