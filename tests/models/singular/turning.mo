model Turning "der(y) = z, y^2 + z^2 = 1: the Jacobian 2*z is singular at pi/2"
  // expect: exit 6
  // expect: singular 1.5707963267948966
  Real y(start = 0, fixed = true), z(start = 1);
equation
  der(y) = z;
  y^2 + z^2 = 1;
  annotation(experiment(StopTime = 3, Tolerance = 1e-6));
end Turning;
