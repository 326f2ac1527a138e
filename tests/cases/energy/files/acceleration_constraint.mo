// The equations of acceleration_constraint.mo by hand.
model Servo
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), vx(start = 0, fixed = true), vy(start = 1, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = 1 + y;
  der(vy) = 3*(x - y);
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Servo;
