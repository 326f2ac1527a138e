model Redundant "The same constraint twice"
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 2
  // expect: report.strangeness.d = 0
  // expect: report.strangeness.v = 1
  // expect: report.strangeness.u = 0
  // expect: x = sin(time) within 1e-6*(1 + largest(abs(sin(time)))) everywhere
  // expect: y = cos(time) within 1e-6*(1 + largest(abs(cos(time)))) everywhere
  Real x, y;
equation
  der(x) = y;
  x = sin(time);
  2*x = 2*sin(time);
end Redundant;
