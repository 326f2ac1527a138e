model ZeroInductance "A parameter of zero raises the index: the inductor is a wire"
  // expect: kind parameters
  // expect: dof_true 1
  // solution: u = exp(-t)
  parameter Real L = 0, C = 1, R = 1;
  Real i, u(start = 1, fixed = true);
equation
  L*der(i) = u - R*i;
  C*der(u) = -i;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end ZeroInductance;
