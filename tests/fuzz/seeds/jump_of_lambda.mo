// 731006642
model M
  Real x1;
  Real y2;
  Real z3;
  Real h4, l4;
  Real x5(start = 0.6);
  Real y6(start = 0.6);
  Real u7(start = 0.6);
  Real v8(start = 0.6);
  Real s9(start = 0.6);
  Real h10 = 1 + 2*(if time > 0.5 then time else y6) - atan(1e-3);
  parameter Real p11 = 2;
initial equation
x1 = 0.5;
equation
  der(x1)  + 3*( der(y6) ) =  -x1 + y2 + 3*( v8);
   der(y2)  =  x1 - y2 + z3;
   0  =  x1 + y2 + z3 - 0.5;
  der(x5)  =  u7;
   1 =  x5^2 + y6^2 ;
   der(l4)  =  -s9*x5;
   der(v8)  =  -s9*y6 - 9.81;
   der(y6)  =  v8;
  if time > 0.05 then h4 = {x1, (time - z3), noEvent(if time > y2 then x1 else 1.5)}[2]; l4 = h4 + 1; else l4 = exp(-(sinh(0.1*4))^2); h4 = -l4; end if;
end M;

// strangeness: der(x5)
