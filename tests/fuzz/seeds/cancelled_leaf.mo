// 1
model M
  Real c1, c2, c3;
equation
  c1 + 0.5*c2 + 4*c2 = 0.5*der(c1) + 4*der(c1);
  c2 = der(c1);
  c3 = 1;
end M;
