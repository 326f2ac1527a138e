model WaterTubes "Estevez Schwarz, (5) to (8): a water tube system of three tubes, one buffer and two normal nodes"
  // Tube 1 from n1 to the buffer, tube 2 from n1 to n2, tube 3 from n2 to the buffer. The balances (8) of the normal
  // nodes are differentiated once; tubes - normal nodes + buffers = 2 degrees of freedom; index 2.
  // run: analyze
  // expect: report.equations = 9
  // expect: report.structural_index = 2
  // expect: report.dof = 2
  // expect: report.offsets.c = [0, 0, 0, 0, 0, 0, 0, 1, 1]
  // expect: report.offsets.d = [1, 1, 1, 0, 0, 0, 1, 0, 0]
  // expect: sum(report.differentiations.times) = 2
  // run: flatten
  // expect: exit 0
  parameter Real V = 2;
  parameter Real Cb = 3;
  Real phi1;
  Real phi2;
  Real phi3;
  Real lam1;
  Real lam2;
  Real lam3;
  Real pb;
  Real pn1;
  Real pn2;
equation
  V*der(phi1) = pn1 - pb - lam1*phi1;
  V*der(phi2) = pn1 - pn2 - lam2*phi2;
  V*der(phi3) = pn2 - pb - lam3*phi3;
  0 = lam1 - 0.2*exp(phi1);
  0 = lam2 - 0.2*exp(phi2);
  0 = lam3 - 0.2*exp(phi3);
  Cb*der(pb) = phi1 + phi3 - sin(time);
  0 = phi1 + phi2 - 1 - cos(time);
  0 = phi3 - phi2 - time;
end WaterTubes;
