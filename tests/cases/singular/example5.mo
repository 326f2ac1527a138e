model Example5 "Mattsson and Soderlind, Example 5, (4.6), with f1 = sin t, f2 = cos t"
  // run: simulate
  // expect: "combination" in report.conversions.kind
  // expect: x = cos(time) + 2*time*sin(time) within 1e-6*(1 + largest(abs(cos(time) + 2*time*sin(time)))) everywhere
  // expect: y = -2*sin(time) within 1e-6*(1 + largest(abs(-2*sin(time)))) everywhere
  // run: analyze
  // expect: report.dof_true = 0
  // expect: [size(block.equations) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.rank = [1]
  // expect: [size(block.variables) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // expect: report.singular_blocks[0].equations[1].equation = 2
  // expect: report.singular_blocks[0].equations[1].line = 30
  // expect: report.singular_blocks[0].equations[1].text = "x + y*time = cos(time)"
  // expect: sorted(report.singular_blocks[0].variables) = ["x", "y"]
  // expect: prints equation 1 - der(equation 2)
  // expect: prints -y - 2*sin(time) = 0
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 2
  // expect: report.strangeness.d = 0
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // expect: x = cos(time) + 2*time*sin(time) within 1e-6*(1 + largest(abs(cos(time) + 2*time*sin(time)))) everywhere
  // expect: y = -2*sin(time) within 1e-6*(1 + largest(abs(-2*sin(time)))) everywhere
  Real x, y;
equation
  der(x) + time*der(y) = sin(time);
  x + time*y = cos(time);
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Example5;
