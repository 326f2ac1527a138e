model Catenary "a chain of length 2 between two nails at height 1 and distance 1: least energy with a given integral; time stands for the horizontal position"
  Real y(start = 1, fixed = true), slope(start = -2);
equation
  slope = der(y);
lagrangian
  y*sqrt(1 + slope^2);
constraint
  integral(sqrt(1 + slope^2)) = 2 "length";
final equation
  y = 1;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Catenary;
