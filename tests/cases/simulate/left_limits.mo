// pre() of a continuous variable in a when is its value before the event, even if the event changes it.
// run: simulate
// expect: [y, z, q, v, w, first] = [2, 1, 2, 2, 1, 2]
model M
  Real x(start=0, fixed=true), y, v(start=1, fixed=true), w(start=2, fixed=true);
  discrete Real z(start=0, fixed=true), q(start=0, fixed=true), first;
equation
  der(x) = 1;
  der(v) = 0;
  der(w) = 0;
  y = if x > 0.5 then 2 else 1;
  when x > 0.5 then
    z = pre(y);
    q = y;
    reinit(v, pre(w));
    reinit(w, pre(v));
  end when;
  when initial() then
    first = pre(v) + 1;
  end when;
end M;
