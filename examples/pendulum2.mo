model Pendulum2 "the pendulum in second-order form: der(der(x)), no velocities among the unknowns"
  // Mattsson and Soderlind, (4.1): three equations, index 3, two degrees of freedom.
  parameter Real m = 1 "mass";
  parameter Real L = 1 "length of the rod";
  parameter Real g = 9.81 "gravity";
  Real x(start = 1);
  Real y(start = 0, fixed = true);
  Real F(start = 0) "force in the rod";
  Real E "energy, zero at rest at the bottom";
equation
  x^2 + y^2 = L^2;
  m*der(der(x)) = -F/L*x;
  m*der(der(y)) = -F/L*y - m*g;
  E = m/2*(der(x)^2 + der(y)^2) + m*g*(y + L);
initial equation
  der(y) = 0;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end Pendulum2;
