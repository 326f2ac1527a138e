// An alias of a state may be set, with either sign.
// expect: h > -1e-3 everywhere
model M
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), w;
equation
  der(h) = v;
  der(v) = -9.81;
  w = -v;
  when h < 0 then
    reinit(w, 0.5*pre(v));
  end when;
end M;
