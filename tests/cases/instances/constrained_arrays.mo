// Values that a class gives to its elements hold for each element of an array of the class. The values may come from a constraining clause, whether the class is replaced or not, or from the
// class that replaces another one. This also holds in an array of models. Arrays inside of the class keep their own sizes.
// expect: g.c[3].x = 8
// expect: h.c[3].x = 112
// expect: h.d[2,3].x = 112
// expect: hh[1].c[2].x = 112
// expect: hh[2].d[1,2].x = 168
// expect: q[3].x = 48
package P
  partial model Partial
    parameter Integer n = 1;
    parameter Real V;
    Real x;
  end Partial;
  model Scale
    parameter Real w = 1;
  end Scale;
  model Full
    extends Partial;
    Scale s[2](w = {1, 2});
  equation
    x = V*n*s[1].w*s[2].w*time;
  end Full;
  partial model Base
    replaceable model C = Full constrainedby Partial(final n = m, final V = W/k);
    parameter Integer k = 3;
    parameter Integer m = 2;
    parameter Real W = 6;
    C c[k];
  end Base;
  model Holder
    extends Base;
    C d[2, 3];
  end Holder;
  model Short = Full(s(w = {4, 4}));
  model M
    parameter Real p = 4;
    Holder g;
    Holder h(redeclare model C = Full(s(w = {p, 7})));
    Holder hh[2](redeclare model C = Full(s(w = {p, 7})), W = {6, 9});
    Short q[3](V = {1, 2, 3});
  end M;
end P;
