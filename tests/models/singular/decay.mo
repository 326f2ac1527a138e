model Decay "A factor that gets small but never zero is no singular point"
  // expect: exit 0
  // solution: z = exp(t)
  Real y(start = 1, fixed = true), z(start = 1);
equation
  der(y) = -y;
  y*z^3 = z^2;
  annotation(experiment(StopTime = 5, Tolerance = 1e-7));
end Decay;
