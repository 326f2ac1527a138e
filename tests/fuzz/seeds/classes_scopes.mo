package P
  constant Real g = 9.81;
  type E = enumeration(one, two "text", three);
  record R Real a = 1; Real b[2] = {1, 2}; end R;
  function f input Real x; input Real y = 2; output Real z; protected Real w = x; algorithm z := w + y; end f;
  model W outer Real t; Real y = t + f(1); end W;
  model M
    inner Real t = time;
    W w, v if true;
    R r(a = 3), s[2](each b = {3, 4});
    parameter E e = E.two;
    replaceable W q;
    parameter Boolean has = false;
    Real z if has;
  protected
    final parameter Real h(min = 0, unit = "m") = P.g;
  end M;
  model N = M(redeclare W q, h = 4, s(a = {1, 2}), final has = true);
  model extends X end X;
end P;
