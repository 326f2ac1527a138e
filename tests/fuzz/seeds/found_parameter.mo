// 244876347
model M
  Real a1(stateSelect = StateSelect.never);
  Real b2(stateSelect = StateSelect.avoid);
  Real c3(stateSelect = StateSelect.prefer);
  parameter Real p4(fixed = false, start = 1); Real g4(start = 1, fixed = true);
  Real c5(unit = "m");
  Real c6(stateSelect = StateSelect.never);
  Boolean c7; Real h7;
initial equation
der(g4) = -0.5;
equation
  c5  =  c3;
   b2  + 1.5*(a1 ) =  -c3 + 1.5*( b2);
   der(a1)  =  -c3 + tanh(1.5);
  a1  =  b2;
   c6  =  der(c5);
  der(g4) = -p4*g4;
  c7 = time > 0.05; h7 = if c7 then 1 else exp(-(noEvent(if not (g4 <= 0) then time else c6))^2);
end M;

// reduced: p4
