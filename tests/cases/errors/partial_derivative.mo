package P
  // run: check
  // expect: exit 3
  // expect: 12:25: input `v` of function `f` is Real[:]
  // expect: 13:25: function `f` has no input `q`
  // expect: 14:12: `self` is a derivative of itself
  // expect: 15:25: function `missing` is not defined
  // expect: 17:3: not supported yet: a derivative of a function in function `h`
  function f
    input Real v[2]; input Real u; output Real z = v[1]*u^2; algorithm
  end f;
  function fv = der(f,  v);
  function fq = der(f,  q);
  function self = der(self, u);
  function none = der(  missing, u);
  function fu = der(f, u);
  function h
    input Real x; output Real s = 0; protected Real t = x; algorithm
    while t > 1 loop s := s + fu({t, 1}, t); t := t/3; end while;
  end h;
  model M
    Real a = fv({1, 2}, 2), b = fq({1, 2}, 2), c = self(3), d = none(4), e = h(time);
  end M;
end P;
