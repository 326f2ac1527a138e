model Superfluous "Mattsson and Soderlind, section 2: index 1, and Pantelides's algorithm differentiates nevertheless"
  // run: analyze
  // expect: report.equations = 2
  // expect: report.structural_index = 1
  // expect: report.dof = 1
  // expect: report.offsets.c = [0, 1]
  // expect: report.offsets.d = [1, 1]
  // expect: sum(report.differentiations.times) = 1
  // expect: size(report.superfluous_differentiations) = 1
  // expect: size(report.blocks) = 1
  // run: flatten
  // expect: exit 0
  Real x;
  Real y;
equation
  der(x) + der(y) = 1;
  x - y = 0;
end Superfluous;
