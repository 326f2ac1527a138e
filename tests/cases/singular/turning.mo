model Turning "der(y) = z, y^2 + z^2 = 1: the Jacobian 2*z is singular at pi/2"
  // run: simulate
  // expect: exit 6
  // expect: report.singular.time = 1.5707963267948966 within 1.57e-06
  // expect: report.singular.rank < report.singular.equations
  // run: simulate --solver {erk,radau} --tolerance {1e-4,1e-6,1e-9}
  // expect: exit 6
  // expect: report.singular.time = pi/2 within 1e-6
  // expect: says y^2 + z^2 = 1
  // expect: says variable z
  // expect: time < 1.5708
  // run: simulate --method strangeness
  // expect: exit 6
  // expect: report.singular.time = pi/2 within 1e-6
  Real y(start = 0, fixed = true), z(start = 1);
equation
  der(y) = z;
  y^2 + z^2 = 1;
  annotation(experiment(StopTime = 3, Tolerance = 1e-6));
end Turning;
