// The contents of pipes and delays stay when the equations change.
// run: simulate --stop-time 4 --intervals 16 --method {dummy,minimal,none}
// expect: report.replans = 1
// expect: l = sin(max(0, time - 0.4)) within 1e-6 everywhere
// expect: b = sin(max(0, time - 1)) within 1e-6 everywhere
model M
  Real w1(start=10, fixed=true), w2(start=0, fixed=true), torque, s, l, x(start=0, fixed=true), a, b;
equation
  s = sin(time);
  l = delay(s, 0.4 + 0*w1, 1);
  der(x) = 1;
  (a, b) = spatialDistribution(s, 0, x, true);
  der(w1) = 1 - torque;
  3*der(w2) = torque;
  0 = if time >= 1.5 then w1 - w2 else torque;
end M;
