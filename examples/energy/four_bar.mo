model FourBar "a planar linkage of three uniform moving bars in the plane of gravity"
  parameter Real l1 = 1, l2 = 4, l3 = 3, l4 = 3.5 "ground", rho = 1 "mass of unit length", g = 9.81;
  parameter Real m1 = rho*l1, m2 = rho*l2, m3 = rho*l3;
  Real a(start = 1, fixed = true) "crank", b(start = 0.3) "coupler", c(start = 1.4) "rocker";
  Real x2 "middle of the coupler", y2;
initial equation
  der(a) = 4;
equation
  x2 = l1*cos(a) + l2/2*cos(b);
  y2 = l1*sin(a) + l2/2*sin(b);
lagrangian
  m1*l1^2/6*der(a)^2 + m3*l3^2/6*der(c)^2 + m2/2*(der(x2)^2 + der(y2)^2) + m2*l2^2/24*der(b)^2;
  -m1*g*l1/2*sin(a) - m2*g*y2 - m3*g*l3/2*sin(c);
constraint
  l1*cos(a) + l2*cos(b) = l4 + l3*cos(c) "horizontal";
  l1*sin(a) + l2*sin(b) = l3*sin(c) "vertical";
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end FourBar;
