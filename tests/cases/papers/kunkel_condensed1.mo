model Condensed1 "Kunkel and Mehrmann, (18): the condensed form with s = 2, d = 1, a = 1, u = 2 and rank A14 = rank [A12 A14]"
  // run: analyze
  // expect: report.equations = 6
  // expect: report.index_true = 2
  // expect: report.dof_true = 1
  Real p1;
  Real p2;
  Real q;
  Real r;
  Real z1;
  Real z2;
equation
  der(p1) = q + z1 + sin(time);
  der(p2) = 2*q + z1 - z2;
  der(q) = z1 + z2 + 1;
  0 = r + cos(time);
  0 = p1 + time;
  0 = p2 + sin(time);
end Condensed1;
