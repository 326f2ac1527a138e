model TriplePendulum "a chain of point masses on rigid rods, in Cartesian coordinates"
  constant Integer n = 3;
  parameter Real m = 1, L = 1, g = 9.81;
  Real x[n](start = 1:n), y[n](start = zeros(n), each fixed = true);
initial equation
  der(y) = zeros(n);
lagrangian
  for i in 1:n loop
    m/2*(der(x[i])^2 + der(y[i])^2) - m*g*(y[i] + i*L);
  end for;
constraint
  x[1]^2 + y[1]^2 = L^2 "top";
  for i in 2:n loop
    (x[i] - x[i - 1])^2 + (y[i] - y[i - 1])^2 = L^2 "rod";
  end for;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end TriplePendulum;
