model Robot "Two-link robot arm with an elastic joint on a prescribed path (Campbell, Griepentrog 1995); index 5"
  // run: simulate
  // expect: "combination" in report.conversions.kind
  // expect: x1 = 1 - exp(time) within 1e-6*(1 + largest(abs(1 - exp(time)))) everywhere
  // expect: x3 = exp(time) - time within 1e-6*(1 + largest(abs(exp(time) - time))) everywhere
  // run: analyze
  // expect: report.dof_true = 0
  // expect: [size(block.equations) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.rank = [1]
  // expect: [size(block.variables) for block in report.singular_blocks] = [2]
  // expect: report.singular_blocks.verdict = ["identical"]
  // expect: min(report.singular_blocks.points) >= 3
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 4
  // expect: report.strangeness.a = 12
  // expect: report.strangeness.d = 0
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // expect: x1 = 1 - exp(time) within 1e-6*(1 + largest(abs(1 - exp(time)))) everywhere
  // expect: x3 = exp(time) - time within 1e-6*(1 + largest(abs(exp(time) - time))) everywhere
  Real x1(start = 0), x2, x3(start = 1), u1, u2;
  Real a, b, c, d;
equation
  a = 2/(2 - cos(x3)^2);
  b = cos(x3)/(2 - cos(x3)^2);
  c = sin(x3)/(2 - cos(x3)^2);
  d = cos(x3)*sin(x3)/(2 - cos(x3)^2);
  der(der(x1)) = 2*c*(der(x1) + der(x3))^2 + der(x1)^2*d + (2*x3 - x2)*(a + 2*b) + a*(u1 - u2);
  der(der(x2)) = -2*c*(der(x1) + der(x3))^2 - der(x1)^2*d + (2*x3 - x2)*(1 - 3*a - 2*b) - a*u1 + (a + 1)*u2;
  der(der(x3)) = -2*c*(der(x1) + der(x3))^2 - der(x1)^2*d + (2*x3 - x2)*(a - 9*b) - 2*der(x1)^2*c - d*(der(x1) + der(x3))^2 - (a + b)*(u1 - u2);
  cos(x1) + cos(x1 + x3) = cos(1 - exp(time)) + cos(1 - time);
  sin(x1) + sin(x1 + x3) = sin(1 - exp(time)) + sin(1 - time);
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Robot;
