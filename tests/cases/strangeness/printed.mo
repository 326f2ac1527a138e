model Printed "reduce prints Kunkel and Mehrmann's d differential and a algebraic equations; read back they run alike"
  // run: reduce --method strangeness
  // expect: prints strangeness index 2: d = 2 differential and a = 3 algebraic equations for 5 variables
  // expect: prints 2 differential equations,
  // run: reduce --method strangeness | simulate --stop-time 0.4
  // reference: simulate --stop-time 0.4
  // expect: x = reference.x within 1e-6
  // expect: lambda = reference.lambda within 1e-5
  // expect: x^2 + y^2 = 1 within 1e-9 everywhere
  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = 1;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end Printed;
