model Mna "Kunkel and Mehrmann, (41): modified nodal analysis of a circuit with a loop of a capacitor and a voltage source, and a cutset of an inductor and a current source"
  // run: analyze
  // expect: report.equations = 4
  // expect: report.index_true = 2
  // expect: report.dof_true = 0
  parameter Real C = 2;
  parameter Real G = 1;
  parameter Real L = 3;
  Real e1;
  Real e2;
  Real jL;
  Real jV;
equation
  C*der(e1) + G*e1 + jV = 0;
  jL + sin(time) = 0;
  L*der(jL) - e2 = 0;
  e1 - cos(time) = 0;
end Mna;
