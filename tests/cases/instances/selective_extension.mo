// `break` in an extends clause leaves out a component with its connections, or one connection (Modelica 3.6, section 7.4).
// run: simulate --stop-time 1
// expect: y = 3 within 1e-9
// expect: s.z = 10 within 1e-9
// run: check
// change: break connect(s.u, b.y) -> break connect(s.u, a.y)
// expect: exit 3
// expect: says nothing can be left out by `break` here: there is no such connection
// run: check
// change: break a) -> break r)
// expect: exit 3
// expect: says nothing can be left out by `break` here: it is not a component of a model, block or connector
// run: check
// change: extends WithoutA(break connect(s.u, b.y)); -> extends WithoutA(break connect(s.u, b.y), a(value = 2));
// expect: exit 3
// expect: says there is no element `a` in `SelectiveExtension` that could be modified
connector Input = input Real;
connector Output = output Real;

block Source
  parameter Real value = 1;
  Output y = value;
end Source;

block Gain
  Input u;
  Output z = 2*u;
end Gain;

record R
  Real x = 1;
end R;

model Base
  Source a, b(value = 3);
  Gain g, s;
  R r;
equation
  connect(a.y, g.u);
  for i in 1:1 loop
    connect(b.y, s.u);
  end for;
end Base;

model WithoutA
  extends Base(break a);
end WithoutA;

model SelectiveExtension
  extends WithoutA(break connect(s.u, b.y));
  Real y = b.y;
equation
  g.u = time;
  s.u = 5;
end SelectiveExtension;
