model Hessenberg4 "Kunkel and Mehrmann, (34) with r = 4, scalar blocks"
  // run: analyze
  // expect: report.equations = 4
  // expect: report.structural_index = 4
  // expect: report.dof = 0
  // expect: report.offsets.c = [0, 1, 2, 3]
  // expect: report.offsets.d = [1, 2, 3, 0]
  // expect: sum(report.differentiations.times) = 6
  // expect: size(report.blocks) = 4
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 3
  // expect: report.strangeness.a = 4
  // expect: report.strangeness.d = 0
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // run: flatten
  // expect: exit 0
  Real x1;
  Real x2;
  Real x3;
  Real x4;
equation
  der(x1) = x1 + x2 - x3 + 2*x4;
  der(x2) = 3*x1 - x2 + x3;
  der(x3) = x2 + x3 + sin(time);
  0 = 2*x3 + cos(time);
end Hessenberg4;
