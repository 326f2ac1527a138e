model M
  Real x1(start = 0.6);
  Real y2(start = 0.6);
  Real u3(start = 0.6);
  Real v4(start = 0.6);
  Real s5(start = 0.6);
  Real x6;
  Real y7;
  Real z8(stateSelect = StateSelect.always);
  parameter Real p9(fixed = false, start = 1);
  Boolean c10; Real h10;
initial equation
p9 = 0.1*(0);
equation
  der(x1)  =  u3;
   der(y2)  =  v4;
   der(u3)  + 4*( 2 + abs(v4)) + 3*(der(x6) + z8*der(y7) ) =  -s5*x1 + 4*( z8 ) + 3*( atan2(x1, 2 + (s5)^2));
   -s5*y2 - 9.81 =  der(v4) ;
   x6 + z8*y7  =  v4;
  der(x6) + z8*der(y7)  =  atan2(x1, 2 + (s5)^2);
   x1^2 + y2^2  =  1;
   2 + abs(v4) =  z8 ;
  c10 = time > 0.05; h10 = if c10 then 1 else 2*u3 - time;
end M;
