model Circuit "Shmoylova, Gerhard, Postma and Roche, (76): a serial RLC circuit as an optimization problem"
  // The resistor is a dissipative force, R der(I1), as (78b) needs it. Only I1 = I2 is differentiated, once; two degrees of
  // freedom, u and der(u) of (78).
  // run: analyze
  // expect: report.equations = 5
  // expect: report.structural_index = 2
  // expect: report.dof = 2
  // expect: report.offsets.c = [0, 0, 0, 1, 0]
  // expect: report.offsets.d = [1, 2, 0, 0, 0]
  // expect: sum(report.differentiations.times) = 1
  // run: flatten
  // expect: exit 0
  parameter Real R = 1;
  parameter Real L = 2;
  parameter Real C = 3;
  Real I1;
  Real I2;
  Real I3;
  Real lambda1;
  Real lambda2;
equation
  R*der(I1) = lambda1;
  L*der(der(I2)) = -lambda1 + lambda2;
  1/C*I3 = -lambda2;
  0 = I1 - I2;
  0 = I2 - I3;
end Circuit;
