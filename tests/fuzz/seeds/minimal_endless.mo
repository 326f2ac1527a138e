// 3
model M
  Real x1, y2(stateSelect = StateSelect.never), z4(start = 1.5, nominal = 1e-3), x5(start = 0.5, nominal = 1e-3), x6, u7, s8;
equation
  der(x1) + time*der(y2) = 2*time*x1;
  x1 + time*y2 = y2*time;
  z4 + 0.3*sin(0.1*sqrt(1 + 9*x1^2)) = 1.5;
  der(x5) = 4 - 2*x5;
  der(x6) = u7;
  der(u7) + 10*(x1 + time*y2) = s8 - x6 + 10*y2*time;
  x6 = 0.1*sin(time) + 1;
end M;
