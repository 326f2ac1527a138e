model PendulumFirstOrder "Mattsson and Soderlind, (4.5) for the pendulum: as a first-order system"
  // Now the equations of the positions, (4.5a), are differentiated once as well.
  // run: analyze
  // expect: report.equations = 5
  // expect: report.structural_index = 3
  // expect: report.dof = 2
  // expect: report.offsets.c = [1, 1, 0, 0, 2]
  // expect: report.offsets.d = [2, 2, 1, 1, 0]
  // expect: sum(report.differentiations.times) = 4
  // expect: size(report.blocks) = 1
  // run: flatten
  // expect: exit 0
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
