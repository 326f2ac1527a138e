model Condensed2 "Kunkel and Mehrmann, (21) and (22): mu = 2 with s0 = 2 couplings, of which s1 = 1 is left behind the first differentiation"
  // run: analyze
  // expect: report.equations = 6
  // expect: report.index_true = 3
  // expect: report.dof_true = 0
  Real y1;
  Real p1;
  Real p2;
  Real r;
  Real z1;
  Real z2;
equation
  der(y1) = z1 + z2 + sin(time);
  der(p1) = 2*y1 + z1;
  der(p2) = 3*y1 + cos(time);
  0 = r + time;
  0 = p1 + sin(time);
  0 = p2 + time^2;
end Condensed2;
