// 290978412
model M
  function halve input Real a; output Real b; protected Real c; algorithm b := 1; c := abs(a); while c > 0.25 loop c := c/2; b := b + 0.5*sin(a); end while; end halve;
  Real z1;
  Real x2;
  Real u3;
  Real s4(stateSelect = StateSelect.prefer);
  Real z5;
  Real x6(start = 1.5, nominal = 1e-3);
equation
   2*2 - (if time < 0.5 then 0.1 else 1e-3) = z1 ;
  der(x2)  =  u3;
   der(u3)  =  s4 - x2;
   x2  =  0.1*sin(time) + max(10*z1, halve(z1));
  z5  =  if time > 0.05 then (2)^0.5 else exp(-({x2, time, u3}[2])^2);
  der(x6)  =  sqrt(1 + (time)^2) - 2*x6;
end M;
