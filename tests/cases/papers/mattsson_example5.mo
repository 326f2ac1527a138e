model Example5 "Mattsson and Soderlind, Example 5, (4.6): structurally sound, numerically singular"
  // Pantelides's algorithm differentiates the second equation once. By structure there is one degree of freedom. In truth there is none, but no structural analysis can find that.
  // run: analyze
  // expect: report.equations = 2
  // expect: report.structural_index = 1
  // expect: report.dof = 1
  // expect: report.offsets.c = [0, 1]
  // expect: report.offsets.d = [1, 1]
  // expect: sum(report.differentiations.times) = 1
  // expect: size(report.blocks) = 1
  // The equations that a simulation makes of it have the structural index 1; as given, their differentiation index is 2.
  // expect: report.index_true = 1
  // run: analyze --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.differentiation_index = 2
  // run: flatten
  // expect: exit 0
  Real x;
  Real y;
equation
  der(x) + time*der(y) = sin(time);
  x + time*y = cos(time);
end Example5;
