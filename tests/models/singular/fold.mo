model Fold "The root gets lost at time 1: z = sqrt(1 - time)"
  // expect: exit 6
  // expect: singular 1
  Real y(start = 1, fixed = true), z(start = 1);
equation
  der(y) = -1;
  z^2 = y;
  annotation(experiment(StopTime = 3));
end Fold;
