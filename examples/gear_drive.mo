model GearDrive "a motor drives a load through an ideal gear: the gear ties the angles, so the index is 3"
  parameter Real J1(unit = "kg.m2") = 0.02 "inertia of the motor";
  parameter Real J2(unit = "kg.m2") = 1.5 "inertia of the load";
  parameter Real ratio = 12 "turns of the motor for one of the load";
  parameter Real M0(unit = "N.m") = 8 "torque of the motor at rest";
  parameter Real w0(unit = "rad/s") = 150 "speed of the motor without load";
  parameter Real d(unit = "N.m.s/rad") = 3 "friction of the load";
  Real phi1(unit = "rad", start = 0) "angle of the motor";
  Real phi2(unit = "rad", start = 0, fixed = true) "angle of the load";
  Real w1(unit = "rad/s", start = 0);
  Real w2(unit = "rad/s", start = 0, fixed = true);
  Real motor(unit = "N.m") "torque of the motor";
  Real load(unit = "N.m") "torque of the load";
  Real tau1(unit = "N.m") "torque into the gear";
  Real tau2(unit = "N.m") "torque out of the gear";
  Real E(unit = "J") "kinetic energy";
equation
  der(phi1) = w1;
  der(phi2) = w2;
  J1*der(w1) = motor - tau1;
  J2*der(w2) = tau2 - load;
  tau2 = ratio*tau1;
  phi1 = ratio*phi2;
  motor = M0*(1 - w1/w0);
  load = d*w2;
  E = J1/2*w1^2 + J2/2*w2^2;
  annotation(experiment(StopTime = 5, Tolerance = 1e-7));
end GearDrive;
