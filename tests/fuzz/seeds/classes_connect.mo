model M
  connector Pin Real v; flow Real i; end Pin;
  connector Fluid Real p; flow Real m; stream Real h; end Fluid;
  expandable connector Bus end Bus;
  connector In = input Real; connector Out = output Real;
  model R parameter Real r = 1; Pin p, n; equation p.v - n.v = r*p.i; p.i + n.i = 0; end R;
  block S Out y = time; end S;
  block G In u; Out y = 2*u; end G;
  model T Fluid a, b; equation a.m + b.m = 0; a.h = inStream(b.h); b.h = inStream(a.h); a.p = b.p; end T;
  R r[4]; Pin ground; S s; G g; Bus bus; T t1, t2;
equation
  for i in 1:3 loop connect(r[i].n, r[i + 1].p); end for;
  connect(r[4].n, r[1].p); connect(r[1].p, ground); ground.v = 0;
  connect(s.y, bus.a); connect(bus.a, g.u); connect(t1.b, t2.a);
  t1.a.p = 1; t2.b.m = 1; t1.a.h = actualStream(t2.b.h);
end M;
