model Lander "a soft landing on the moon with least fuel: free fall, then full thrust"
  parameter Real T(start = 1.3, fixed = false, min = 0.1), g = 1, exhaust = 2.349;
  Real h(start = 1, fixed = true) "height", v(start = -0.783, fixed = true), m(start = 1, fixed = true) "mass";
  Real u(min = 0, max = 1.227) "thrust";
  Real adjoint_h(start = 0.5), adjoint_v(start = 0.2), adjoint_m(start = -0.9);
equation
  der(h) = v;
  der(v) = u/m - g;
  der(m) = -u/exhaust;
maximize
  m;
final equation
  time = T;
  h = 0;
  v = 0;
  annotation(experiment(Tolerance = 1e-10));
end Lander;
