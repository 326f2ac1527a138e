model Pendulum "velocities that violate the hidden constraint move as little as possible"
  // expect exit 0
  // expect how x kept
  // expect how y kept
  // expect how vx moved
  // expect how vy moved
  // expect value vx 1.12
  // expect value vy 0.84
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6);
  Real y(start = -0.8);
  Real vx(start = 1);
  Real vy(start = 1);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
end Pendulum;
