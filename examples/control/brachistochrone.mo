model Brachistochrone "the curve of fastest descent from (0, 0) to (1, 1)"
  parameter Real T(start = 1, fixed = false, min = 0.1) "final time", g = 9.81;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true) "depth", v(start = 0, fixed = true);
  Real u(start = 0.5) "angle of the curve to the vertical";
  Real adjoint_x(start = -0.1), adjoint_y(start = -0.1), adjoint_v(start = -0.1);
equation
  der(x) = v*sin(u);
  der(y) = v*cos(u);
  der(v) = g*cos(u);
minimize
  T;
final equation
  time = T;
  x = 1;
  y = 1;
  annotation(experiment(Tolerance = 1e-10));
end Brachistochrone;
