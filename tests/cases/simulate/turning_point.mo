// der(y) = z, y^2 + z^2 = 1 reaches a singular point at pi/2: never passed in silence.
// run: simulate --stop-time 3
// expect: exit 6
// expect: report.end_time = pi/2 within 1e-2
model M
  Real y(start=0, fixed=true);
  Real z(start=1);
equation
  der(y) = z;
  y^2 + z^2 = 1;
end M;
