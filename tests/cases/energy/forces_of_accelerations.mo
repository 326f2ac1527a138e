// Such forces make the matrix of the accelerations unsymmetric.
// run: simulate
// reference: files/forces_of_accelerations.mo simulate
// expect: x = reference.x within 1e-5 everywhere
// expect: y = reference.y within 1e-5 everywhere
// expect: z = reference.z within 1e-5 everywhere
// run: reduce --method projection | simulate --stop-time 0.4
// reference: files/forces_of_accelerations.mo simulate --stop-time 0.4
// expect: x = reference.x within 1e-5 everywhere
// expect: y = reference.y within 1e-5 everywhere
// expect: z = reference.z within 1e-5 everywhere
// The pivot of the printed form is zero at y = 0.53.
// run: reduce --method projection | simulate
// expect: exit 6
// expect: says the choice made at time 0 ends here: 2 - 3.4*y/0.9
model M
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), z;
initial equation
  der(x) = 0;
  der(y) = 1;
lagrangian
  der(x)^2 + der(y)^2 + der(z)^2 + der(x)*der(y) - x^2 - y^2;
force
  x = -0.7*der(der(y)) + 0.1*lambda_sum;
constraint
  z = x + y^2  "sum" ;
end M;
