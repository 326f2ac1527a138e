model SliderCrank "a crank, a connecting rod and a slider, driven by a torque against friction"
  parameter Real J1 = 0.1 "inertia of the crank about its pivot", J2 = 0.05 "inertia of the rod about its middle";
  parameter Real m2 = 0.5 "mass of the rod", m3 = 1 "mass of the slider", r = 0.3, l = 1, g = 9.81;
  parameter Real tau = 1 "torque on the crank", d = 0.8 "friction of the slider";
  Real phi(start = 0.5, fixed = true) "angle of the crank", psi(start = -0.14) "angle of the rod", s(start = 1.2);
  Real x2 "middle of the rod", y2;
initial equation
  der(phi) = 1;
equation
  x2 = r*cos(phi) + l/2*cos(psi);
  y2 = r*sin(phi) + l/2*sin(psi);
lagrangian
  J1/2*der(phi)^2 + J2/2*der(psi)^2 + m2/2*(der(x2)^2 + der(y2)^2) + m3/2*der(s)^2 - m2*g*y2;
dissipation
  d/2*der(s)^2;
force
  phi = tau;
constraint
  r*cos(phi) + l*cos(psi) = s "along";
  r*sin(phi) + l*sin(psi) = 0 "across";
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end SliderCrank;
