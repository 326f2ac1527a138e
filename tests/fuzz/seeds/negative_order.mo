// 22518324
model M
  Real x1(start = 1), x2(start = 1), z3, x4, y5, z6, a7, b8, x9, y10;
equation
  time = x2;
  x2 = x1;
  z3 = 2*{10, x2}[2];
  der(x4) + z6*der(y5) = 1;
  x4 + z6*y5 + (der(x9) + der(y10) + x9 + 3*(x4 + z6*y5)) = 4*x2;
  z6 = 1;
  a7 = b8;
  b8 = 0.1;
  der(x9) + der(y10) + x9 + 3*(x4 + z6*y5) = 1;
  der(x9) + der(y10) + y10 = atan2(time, 2);
end M;
