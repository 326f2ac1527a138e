model Reactor "Estevez Schwarz, (15) to (18): the exothermic reactor, a Hessenberg triangular chain"
  // The chain of two Hessenberg blocks of order 2: u'' is needed for T_C, so C = u is differentiated twice, the mass
  // balance and the rate law once; nothing is free.
  // run: analyze
  // expect: report.equations = 4
  // expect: report.structural_index = 3
  // expect: report.dof = 0
  // expect: report.offsets.c = [1, 2, 0, 1]
  // expect: report.offsets.d = [2, 1, 1, 0]
  // expect: sum(report.differentiations.times) = 4
  // expect: size(report.blocks) = 4
  // run: flatten
  // expect: exit 0
  parameter Real K1 = 1;
  parameter Real K2 = 209;
  parameter Real K3 = 7.2e10;
  parameter Real K4 = 8750;
  Real C(start = 0.5);
  Real R(start = 0.5);
  Real T(start = 350);
  Real TC(start = 300);
equation
  der(C) = K1*(1 - C) - R;
  0 = C - (0.5 + 0.1*sin(time));
  der(T) = K1*(350 - T) + K2*R - K3*(T - TC);
  0 = R - K3*exp(-K4/T)*C;
end Reactor;
