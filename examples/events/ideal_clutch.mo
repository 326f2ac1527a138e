model IdealClutch "two inertias; at time 1 a clutch joins them rigidly: the index rises, and the speeds jump so that momentum is conserved"
  parameter Real J1 = 1, J2 = 3;
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), torque;
  Boolean engaged = time >= 1;
equation
  J1*der(w1) = 1 - torque;
  J2*der(w2) = torque;
  0 = if engaged then w1 - w2 else torque;
  annotation(experiment(StopTime = 2));
end IdealClutch;
