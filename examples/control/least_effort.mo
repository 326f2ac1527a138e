model LeastEffort "from rest to rest in a given time with least effort, and a bound on the force"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), u(min = -5, max = 5) "force";
equation
  der(x) = v;
  der(v) = u;
minimize
  integral(u^2/2);
final equation
  x = 1;
  v = 0;
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end LeastEffort;
