// 0.05
model M
  parameter Real p1 = 2;
  Real x2;
  Real y3(start = 2);
  Real x4(start = 0);
  Real c5(stateSelect = StateSelect.prefer);
  Real c6(start = 2);
  Real c7(stateSelect = StateSelect.avoid);
equation
   homotopy(smooth(0, if p1 > p1 then p1 else time), noEvent(if time > 0.5 then p1 else p1)) = x2 + y3 ;
   x2 - y3  =  homotopy(p1, time);
  der(x4)  =  1e300-8 - x4 + y3;
  der(c6)  =  c5;
   der(c7)  =  c6;
   c7  =  exp(-time) + sin((p1)^0.5);
end M;
