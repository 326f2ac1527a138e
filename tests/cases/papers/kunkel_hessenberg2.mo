model Hessenberg2 "Kunkel and Mehrmann, (35): a Hessenberg system of order 2, blocks of sizes 2 and 1"
  // The last block row is differentiated once; m1 - s = 1 degree of freedom.
  // run: analyze
  // expect: report.equations = 3
  // expect: report.structural_index = 2
  // expect: report.dof = 1
  // expect: report.offsets.c = [0, 0, 1]
  // expect: report.offsets.d = [1, 1, 0]
  // expect: sum(report.differentiations.times) = 1
  // expect: size(report.blocks) = 1
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 2
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // run: flatten
  // expect: exit 0
  Real a1;
  Real a2;
  Real b;
equation
  der(a1) = a1 + 2*a2 + b + sin(time);
  der(a2) = -a1 + a2 + 3*b;
  0 = 2*a1 + a2 + cos(time);
end Hessenberg2;
