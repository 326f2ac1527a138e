model Ungrounded "Series of source, resistor, inductor and capacitor; no node is grounded"
  // expect: kind redundant
  // expect: dof_true 2
  // solution: iL = exp(-0.5*t)*sin(w*t)/w
  parameter Real R = 1, L = 1, C = 1;
  Real v1, v2, v3, v4;
  Real iV, iR, iL(start = 0, fixed = true), iC, u(start = 0, fixed = true);
equation
  v1 - v4 = 1;
  v1 - v2 = R*iR;
  v2 - v3 = L*der(iL);
  u = v3 - v4;
  C*der(u) = iC;
  iV + iR = 0;
  iR - iL = 0;
  iL - iC = 0;
  iC + iV = 0;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Ungrounded;
