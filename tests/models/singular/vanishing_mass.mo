model VanishingMass "x*der(x) = -1 reaches x = 0 at time 0.5"
  // expect: exit 6
  // expect: singular 0.5
  Real x(start = 1, fixed = true);
equation
  x*der(x) = -1;
end VanishingMass;
