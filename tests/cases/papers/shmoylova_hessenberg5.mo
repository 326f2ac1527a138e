model Hessenberg5 "Shmoylova, Gerhard, Postma and Roche, (38) with r = 3: Hessenberg index 5, n = m1 = m2 = m3 = 3, k = 1"
  // The right-hand sides g, f1, f2 are not plain variables, so no alias hides them. (49) has n + r (n - k) = 9 differential
  // equations, one more than there are degrees of freedom.
  // run: analyze
  // expect: report.equations = 13
  // expect: report.structural_index = 5
  // expect: report.dof = 8
  // expect: report.offsets.c = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
  // expect: report.offsets.d = [4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 1, 0]
  // expect: size(report.blocks) = 1
  // run: flatten
  // expect: exit 0
  Real x1(start = 1);
  Real x2(start = 0);
  Real x3(start = 0);
  Real p1;
  Real p2;
  Real p3;
  Real q1;
  Real q2;
  Real q3;
  Real s1;
  Real s2;
  Real s3;
  Real z;
equation
  der(s1) = p1 - s2 + z*x1;
  der(s2) = q1*x2 + z*x2;
  der(s3) = 1 - s3 + z*x3;
  der(q1) = s1 - x1;
  der(q2) = s2 - q1;
  der(q3) = s3 + p2;
  der(p1) = q1 + x2;
  der(p2) = q2 - p1;
  der(p3) = q3 - x3;
  der(x1) = p1 + x2;
  der(x2) = p2 - x1;
  der(x3) = p3 + x3*x1;
  x1^2 + x2^2 + x3^2 = 1;
end Hessenberg5;
