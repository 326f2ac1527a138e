model Mixed "Mixed index 1, 3 (Shmoylova et al. 2013, (50)): structure lies; the pendulum passes x = 0, where derivatives held badly would end the run"
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 2
  // expect: report.strangeness.a = 4
  // expect: report.strangeness.d = 2
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  Real x(start = 0.6), y(start = -0.8, fixed = true), vx, vy(start = 0, fixed = true), z1, z2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -z2*x + 0.1*z1;
  der(vy) = -z2*y - 1;
  0 = 0.3*x + z1 + 2*z2;
  0 = x^2 + y^2 - 1 + 0.6*x + 2*(z1 + 2*z2);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end Mixed;
