// 7
model M
  Real a, b, y;
  discrete Real s(start = 0);
  Integer k(start = 0);
equation
  a = s;
  a = 2*s;
  y = noEvent(if k > 0 then a + b else 0);
  when sample(0, 0.03) then
    s = pre(s) + 1;
    k = pre(k) + 1;
  end when;
end M;
