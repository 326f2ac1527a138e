// 479183222
model M
  Real x1;
  Real y2(unit = "m");
  Real z3;
  Real h4;
  Real x5(start = 1e-3);
  Real y6(stateSelect = StateSelect.never);
  Real z7(start = 10);
  Real z8(nominal = 10);
  record R9 Real a; Real b; end R9;
  R9 r9(a(start = 1));
initial equation
x1 = 0.5;
x5 = 0.5;
equation
  der(x1)  =  -x1 + y2;
   der(y2)  =  x1 - y2 + z3;
   0  =  x1 + y2 + z3 - abs(time);
  der(x5)  + 10*(der(x1) ) =  -x5 + y6 + 10*( -x1 + y2);
   der(y6)  =  x5 - y6 + z7;
   0  =  x5 + y6 + z7 - 4*x1;
   smooth(0, if time < 0.03 or h4 > 1 then 1/(h4) else (if time < 0.03 or z3 > 1 then time else y6)) = z8 + 0.3*sin(z8) ;
algorithm
  h4 := sinh(0.1*x1); while h4 > 1 loop h4 := h4/2; end while;
equation
  der(r9.a) = -r9.a + exp(-((h4)/(2 + sin(time)))^2); r9.b = r9.a + 1;
end M;
