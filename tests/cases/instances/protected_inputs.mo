// A protected connector of the model itself gives no value, and neither do records in it: the public connector does.
// run: simulate --protected
// expect: a.y = 6
// expect: a.n.data.v = 3
// run: check
// change: protected -> public
// expect: exit 3
// expect: says are connected, and both give the value
record Data
  Real v;
end Data;

record Definition
  Data data;
end Definition;

connector In = input Definition;

block Sink
  In u;
  Real y;
protected
  In n;
equation
  connect(u, n);
  y = 2*n.data.v;
end Sink;

model M
  Sink a(u(data(v = 3*time)));
end M;
