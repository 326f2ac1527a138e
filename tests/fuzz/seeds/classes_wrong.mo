model A extends A; end A;
model B B b; C c; end B;
model C extends B(c(c(c = 1))); inner outer Real x; redeclare model D = C; end C;
package P extends P.Q; package Q = P; constant Real a = b, b = a; end P;
model M extends P.Q.P.Q(a(b)(c) = 1); import P.*; import Q = P.Q; A a[size(a, 1)] if a; equation connect(a, a.b[1]); break.x = 1; end M;
