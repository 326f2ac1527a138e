model MnaCharge "Kunkel and Mehrmann, (42): the same by the charge oriented modified nodal analysis"
  // run: analyze
  // expect: report.equations = 6
  // expect: report.index_true = 2
  // expect: report.dof_true = 0
  parameter Real G = 1;
  Real e1;
  Real e2;
  Real jL;
  Real jV;
  Real q;
  Real phi;
equation
  der(q) + G*e1 + jV = 0;
  jL + sin(time) = 0;
  der(phi) - e2 = 0;
  e1 - cos(time) = 0;
  q - 2*e1 - e1^3 = 0;
  phi - 3*jL = 0;
end MnaCharge;
