// A pendulum in Cartesian coordinates is thrown so that it is upright after two seconds; the index is 3. The speed at the start is compared with that of the model in the angle, a'' = -g
// sin(a), found by the same shooting.
// run: simulate
// reference: files/pendulum_angle.mo simulate
// expect: x = 0 within 1e-5
// expect: y = 1 within 1e-6
// expect: x^2 + y^2 = 1 within 1e-9 everywhere
// expect: vx = reference.w within 1e-6 at start
// run: simulate --boundary 'y = 0.5'
// change: final equation -> equation
// change: x = 0; -> der(s) = x;
// change: lambda; -> lambda, s(start = 0, fixed = true);
// expect: y = 0.5 within 1e-5
// run: simulate --boundary 'y = '
// expect: exit 3
model Pendulum
  parameter Real L = 1, g = 9.81;
  Real x(start = 0, fixed = true), y(start = -1), vx(start = 6.3), vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = L^2;
final equation
  x = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end Pendulum;
