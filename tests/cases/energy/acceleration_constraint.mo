// A servo holds the acceleration of x: the force of the constraint has the coefficients of the accelerations (Gauss).
// With z = x - y: x'' = 1 + y and y'' = 3 (x - y) for m = 2.
// run: simulate --energy --method {dummy,minimal,projection,overdetermined,strangeness}
// reference: files/acceleration_constraint.mo simulate
// expect: x = reference.x within 1e-6 everywhere
// expect: y = reference.y within 1e-6 everywhere
// expect: lambda_servo = 2*(1 + y) + 6*(x - y) within 1e-6 everywhere
// expect: abs(energy.balance) < 1e-6 everywhere
// run: check
// change: 1 + y -> der(der(y))^2
// expect: exit 3
// expect: says a constraint must be linear in the accelerations, and is not in der(der(y))
model Servo
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
initial equation
  der(x) = 0;
  der(y) = 1;
lagrangian
  der(x)^2 + der(y)^2 - 3*(x - y)^2;
constraint
  der(der(x)) = 1 + y "servo";
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Servo;
