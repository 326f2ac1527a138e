// 1
model M
  Real x2(stateSelect = StateSelect.prefer), y3(stateSelect = StateSelect.prefer), z4(stateSelect = StateSelect.avoid);
  Real x5, y6, z7;
equation
  1 = z4 - x2;
  der(x5) + z7*der(y6) + 1.5 = 1.5;
  y3 = 1;
  der(x2) = y6;
  x5 + z7*y6 = 1;
  z7 = 2 + x2;
end M;
