model PendulumFirstOrder "Mattsson and Soderlind, (4.5) for the pendulum: as a first-order system"
  // Now the equations of the positions, (4.5a), are differentiated once as well.
  // expect: equations 5
  // expect: index 3
  // expect: dof 2
  // expect: c 1 1 0 0 2
  // expect: d 2 2 1 1 0
  // expect: differentiations 4
  // expect: blocks 1
  parameter Real m = 1;
  parameter Real L = 1;
  parameter Real g = 1;
  Real x(start = 1);
  Real y;
  Real vx;
  Real vy;
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) + lambda/L*x = 0;
  m*der(vy) + lambda/L*y + m*g = 0;
  x^2 + y^2 - L^2 = 0;
end PendulumFirstOrder;
