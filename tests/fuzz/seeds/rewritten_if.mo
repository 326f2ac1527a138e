// 1
model C
  Real x(start = 1), y;
equation
  der(x) + der(y) + x = sin(time);
  der(x) + der(y) + y = if time > 0.5 then 1 else 2;
end C;
