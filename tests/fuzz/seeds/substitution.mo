// 3
model S
  Real x(start = 1), y(start = 1), z;
equation
  der(x) + z*der(y) = sin(time);
  x + z*y = cos(time);
  z = 2 + 0.1*time;
end S;
