model Example1 "Mattsson and Soderlind, Example 1, (3.1), as its Jacobians have it: (c') holds x4' alone"
  // (3.1a) and (3.1b) are differentiated twice and (3.1c) once. All variables appear differentiated (Example 2), so the
  // index is the number of differentiations; one variable, x2, is left with two derivatives.
  // run: analyze
  // expect: report.equations = 4
  // expect: report.structural_index = 2
  // expect: report.dof = 2
  // expect: report.offsets.c = [2, 2, 1, 0]
  // expect: report.offsets.d = [2, 2, 2, 1]
  // expect: sum(report.differentiations.times) = 5
  // expect: size(report.superfluous_differentiations) = 3
  // run: flatten
  // expect: exit 0
  Real x1;
  Real x2;
  Real x3;
  Real x4;
equation
  x1 + x2 + sin(time) = 0;
  x1 + x2 + x3 + cos(time) = 0;
  x1 + x4 + time = 0;
  2*der(der(x1)) + der(der(x2)) + der(der(x3)) + der(x4) + time^2 = 0;
end Example1;
