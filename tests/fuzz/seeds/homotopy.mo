// 5
model H
  Real a0(start = 0.1), a1(start = 0.1), a2(start = 0.1), a3(start = 0.1);
equation
  homotopy(a0^3 - 2*a0 + 2, a0 + 2) = 0;
  a1 = sin(a0) + a0^2;
  a2 = sin(a1) + a1^2;
  a3 = sin(a2) + a2^2;
end H;
