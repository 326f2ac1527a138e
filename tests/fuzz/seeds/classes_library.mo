model M
  import L.Parts.{A, B};
  extends L.Base(k = 2, redeclare model Load = B(c = 3));
  A a[3](each x(start = 1), k = {1, 2, 3});
equation
  for i in 1:2 loop connect(a[i].p, a[i + 1].p); end for;
  a[3].p.v = time;
  annotation(uses(L(version = "1.0")));
end M;
//@ L 1.0/package.mo
within;
package L
  partial model Base
    parameter Real k = 1;
    replaceable model Load = L.Parts.A constrainedby L.Parts.C;
    Load load(k = k);
  end Base;
  annotation(version = "1.0", uses(Z(version = "2")));
end L;
//@ L 1.0/package.order
Parts
//@ L 1.0/Parts/package.mo
within L;
encapsulated package Parts
  connector P Real v; flow Real i; end P;
  partial model C parameter Real k = 1; Real x; end C;
end Parts;
//@ L 1.0/Parts/A.mo
within L.Parts;
model A extends C; P p; equation x = p.v*k; p.i = 0; end A;
//@ L 1.0/Parts/B.mo
within L.Parts;
model B extends C; parameter Real c = 1; equation x = c*time; end B;
