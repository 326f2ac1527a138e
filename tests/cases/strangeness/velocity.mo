model Velocity "A pendulum with its velocity constraint written, too: six equations for five variables"
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 3
  // expect: report.strangeness.d = 2
  // expect: report.strangeness.v = 1
  // expect: report.strangeness.u = 0
  Real x(start = 0.6), y(start = -0.8, fixed = true), vx, vy(start = 0, fixed = true), F;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - 9.81;
  x^2 + y^2 = 1;
  x*vx + y*vy = 0;
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Velocity;
