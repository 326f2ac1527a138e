model Fold "The root gets lost at time 1: z = sqrt(1 - time)"
  // run: simulate
  // expect: exit 6
  // expect: report.singular.time = 1 within 1e-06
  // expect: report.singular.rank < report.singular.equations
  Real y(start = 1, fixed = true), z(start = 1);
equation
  der(y) = -1;
  z^2 = y;
  annotation(experiment(StopTime = 3));
end Fold;
