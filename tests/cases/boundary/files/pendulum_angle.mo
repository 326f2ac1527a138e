// The angle of index_three.mo.
model Angle
  parameter Real vx(start = 6.3, fixed = false);
  Real a(start = 0, fixed = true), w(start = 6.3);
initial equation
  w = vx;
equation
  der(a) = w;
  der(w) = -9.81*sin(a);
final equation
  a = 3.141592653589793;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Angle;
