// 6
model I
  input Real q = 2*time;
  input Real u[2, 1, 2, 1, 2];
  input Real w;
  Real x(start = 1);
equation
  der(x) = q - x + u[1, 1, 2, 1, 1] + w;
end I;
