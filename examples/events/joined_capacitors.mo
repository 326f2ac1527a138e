model JoinedCapacitors "at time 1 a switch joins two capacitors: their voltages become equal, and the charge is conserved"
  parameter Real C1 = 1, C2 = 2;
  Real v1(start = 3, fixed = true), v2(start = 0, fixed = true), i;
  Boolean closed = time >= 1;
equation
  C1*der(v1) = -i;
  C2*der(v2) = i;
  0 = if closed then v1 - v2 else i;
  annotation(experiment(StopTime = 2));
end JoinedCapacitors;
