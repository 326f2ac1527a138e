model Overdetermined "A pendulum with its energy as a sixth equation for five variables"
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 2
  // expect: report.strangeness.a = 4
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 1
  // expect: report.strangeness.u = 0
  // invariant: x^2 + y^2 = 1
  Real x(start = 1), y(start = 0), vx(start = 0), vy(start = 0), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 1;
  x^2 + y^2 = 1;
  (vx^2 + vy^2)/2 + y = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end Overdetermined;
