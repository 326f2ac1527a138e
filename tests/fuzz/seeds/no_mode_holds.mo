// 92524349
model M
  function polynomial input Real a; output Real b; algorithm b := 0; for i in 1:3 loop b := b*a + i; end for; end polynomial;
  Real z1(stateSelect = StateSelect.prefer);
  Real z2(start = 3);
  Real z3(start = 10);
  Real x4;
  Real u5(stateSelect = StateSelect.avoid);
  Real s6(start = 1.5, nominal = 1e-3);
equation
  z1  =  if time > 0.05 then homotopy(3, time) else 0.1*polynomial(1);
  z2  =  z1;
  der(x4)  =  u5;
  z3  + 1*(z2 ) =  if z3 > 1 then 0.5*z3 + z1 else sqrt(1 + (sin(z2))^2) + 1*( z1);
   der(u5)  =  s6 - x4;
   x4  =  0.1*sin(time) + (if not (z1 <= 0) then 1/(z2) else 1/(z3));
end M;
