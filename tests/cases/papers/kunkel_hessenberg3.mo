model Hessenberg3 "Kunkel and Mehrmann, (38): a Hessenberg system of order 3, blocks of sizes 2, 2 and 1"
  // B32 B21 B13 = (1 2)(1 2; 1 -1)(1; 1) = 3. The last row is differentiated twice, the second block once.
  // run: analyze
  // expect: report.equations = 5
  // expect: report.structural_index = 3
  // expect: report.dof = 2
  // expect: report.offsets.c = [0, 0, 1, 1, 2]
  // expect: report.offsets.d = [1, 1, 2, 2, 0]
  // expect: sum(report.differentiations.times) = 4
  // expect: size(report.blocks) = 1
  // expect: "0 = 3*a1 - b1 + 5*b2 - sin(time)" in report.hidden_constraints
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 2
  // expect: report.strangeness.a = 3
  // expect: report.strangeness.d = 2
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // run: flatten
  // expect: exit 0
  Real a1;
  Real a2;
  Real b1;
  Real b2;
  Real z;
equation
  der(a1) = a1 - a2 + b1 + 2*b2 + z;
  der(a2) = a2 + b1 - b2 + z + sin(time);
  der(b1) = a1 + 2*a2 + b1 + b2;
  der(b2) = a1 - a2 - b1 + 2*b2;
  0 = b1 + 2*b2 + cos(time);
end Hessenberg3;
