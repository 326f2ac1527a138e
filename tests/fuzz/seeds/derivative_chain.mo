// 4
model D
  Real x0, x1, x2, x3, x4, x5, x6, x7, x8;
equation
  x0 = sin(time)*exp(time^2)/(1 + time);
  x1 = der(x0);
  x2 = der(x1);
  x3 = der(x2);
  x4 = der(x3);
  x5 = der(x4);
  x6 = der(x5);
  x7 = der(x6);
  x8 = der(x7);
end D;
