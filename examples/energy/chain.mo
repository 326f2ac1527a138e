model Chain "point masses on springs between two points, one of which is shaken"
  constant Integer n = 8;
  parameter Real m = 0.1, k = 50, l0 = 0.1, d = 0.02, g = 9.81, a = 0.1, w = 5;
  Real x[n](start = {i/(n + 1) for i in 1:n}, each fixed = true), y[n](each start = 0, each fixed = true);
  Real X[n + 2], Y[n + 2] "the masses and the two points";
initial equation
  der(x) = zeros(n);
  der(y) = zeros(n);
equation
  X = cat(1, {0}, x, {1});
  Y = cat(1, {a*sin(w*time)}, y, {0});
lagrangian
  m/2*(der(x)*der(x) + der(y)*der(y)) - m*g*sum(y);
  for i in 1:n + 1 loop
    -k/2*(sqrt((X[i + 1] - X[i])^2 + (Y[i + 1] - Y[i])^2) - l0)^2;
  end for;
dissipation
  d/2*(der(x)*der(x) + der(y)*der(y));
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Chain;
