model LeastRate "A direction of the derivatives is free: they are as small as can be. With x or y held the other would have a pole, or none, by chance"
  // run: simulate --method strangeness
  // expect: report.strangeness.free.choice = ["slowest", "slowest"]
  // expect: y = atan(time - 1) + pi/4 within 1e-6 everywhere
  // expect: (time - 1)*der(x) + der(y) = 1 within 1e-9 everywhere
  // expect: x = 0.5*log(1 + (time - 1)^2) - 0.5*log(2) within 1e-6 everywhere
  Real x(start = 0), y(start = 0);
equation
  (time - 1)*der(x) + der(y) = 1;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end LeastRate;
