model VanishingMass "x*der(x) = -1 reaches x = 0 at time 0.5"
  // run: simulate
  // expect: exit 6
  // expect: report.singular.time = 0.5 within 5e-07
  // expect: report.singular.rank < report.singular.equations
  Real x(start = 1, fixed = true);
equation
  x*der(x) = -1;
end VanishingMass;
