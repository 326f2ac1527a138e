// A vector of subscripts, and subscripts computed from sums over parts of arrays; one of these parts is empty.
// run: simulate --stop-time 1
// expect: r[1].p.v = 3 within 1e-7
// expect: r[2].p.v = 1 within 1e-7
// expect: r[3].p.v = 2 within 1e-7
// expect: s[1].p.v = 1 within 1e-7
// expect: s[3].p.v = 3 within 1e-7
connector Pin
  Real v;
  flow Real i;
end Pin;
model Source
  parameter Integer k = 1;
  Pin p;
equation
  p.v = k*time;
end Source;
model Sink
  Pin p;
equation
  p.i = p.v;
end Sink;
model M
  parameter Integer order[3] = {3, 1, 2};
  parameter Integer n[2] = {1, 2};
  Source a[3](k = {1, 2, 3}), b[3](k = {1, 2, 3});
  Sink r[3], s[3];
equation
  connect(a[order].p, r.p);
  for i in 1:2 loop
    connect(b[sum(n[1:i - 1]) + 1:sum(n[1:i])].p, s[sum(n[1:i - 1]) + 1:sum(n[1:i])].p);
  end for;
end M;
