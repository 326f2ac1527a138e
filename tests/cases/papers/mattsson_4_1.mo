model Pendulum "Mattsson and Soderlind, (4.1): the inevitable pendulum in second-order form"
  // The length constraint is differentiated twice, nothing else; index 3.
  // run: analyze
  // expect: report.equations = 3
  // expect: report.structural_index = 3
  // expect: report.dof = 2
  // expect: report.offsets.c = [2, 0, 0]
  // expect: report.offsets.d = [2, 2, 0]
  // expect: sum(report.differentiations.times) = 2
  // expect: size(report.blocks) = 1
  // run: flatten
  // expect: exit 0
  parameter Real m = 1;
  parameter Real L = 1;
  parameter Real g = 1;
  Real x(start = 1);
  Real y;
  Real lambda;
equation
  x^2 + y^2 - L^2 = 0;
  m*der(der(x)) + lambda/L*x = 0;
  m*der(der(y)) + lambda/L*y + m*g = 0;
end Pendulum;
