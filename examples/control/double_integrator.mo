model DoubleIntegrator "from rest to rest in the shortest time: full force, then full brake"
  parameter Real T(start = 1.5, fixed = false, min = 0.1);
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), u(min = -1, max = 1) "force";
  Real adjoint_x(start = -1), adjoint_v(start = -0.8);
equation
  der(x) = v;
  der(v) = u;
minimize
  T;
final equation
  time = T;
  x = 1;
  v = 0;
  annotation(experiment(Tolerance = 1e-9));
end DoubleIntegrator;
