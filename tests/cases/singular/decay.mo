model Decay "A factor that gets small but never zero is no singular point"
  // run: simulate
  // expect: exit 0
  // expect: z = exp(time) within 1e-6*(1 + largest(abs(exp(time)))) everywhere
  Real y(start = 1, fixed = true), z(start = 1);
equation
  der(y) = -y;
  y*z^3 = z^2;
  annotation(experiment(StopTime = 5, Tolerance = 1e-7));
end Decay;
