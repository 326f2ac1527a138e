model Example2 "the system of Mattsson and Soderlind, Examples 1 and 2, as Kunkel and Mehrmann cite it (Example 1)"
  // The third equation contains der(x3), too; the offsets are the same, and there is one block. The highest differentiations of
  // the first three equations are superfluous (Example 2).
  // run: analyze
  // expect: report.equations = 4
  // expect: report.structural_index = 2
  // expect: report.dof = 2
  // expect: report.offsets.c = [2, 2, 1, 0]
  // expect: report.offsets.d = [2, 2, 2, 1]
  // expect: sum(report.differentiations.times) = 5
  // expect: size(report.superfluous_differentiations) = 3
  // expect: size(report.blocks) = 1
  // run: flatten
  // expect: exit 0
  Real x1;
  Real x2;
  Real x3;
  Real x4;
equation
  x1 + x2 + sin(time) = 0;
  x1 + x2 + x3 + cos(time) = 0;
  der(x3) + x1 + x4 + time = 0;
  2*der(der(x1)) + der(der(x2)) + der(der(x3)) + der(x4) + time^2 = 0;
end Example2;
