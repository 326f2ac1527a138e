model Example5 "Mattsson and Soderlind, Example 5, (4.6), with f1 = sin t, f2 = cos t"
  // expect: kind combination
  // expect: dof_true 0
  // solution: x = cos(t) + 2*t*sin(t)
  // solution: y = -2*sin(t)
  Real x, y;
equation
  der(x) + time*der(y) = sin(time);
  x + time*y = cos(time);
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Example5;
