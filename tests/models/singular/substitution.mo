model Substitution "Two nonlinear functions of der(x) + time*der(y): no combination with factors free of derivatives is regular"
  // expect: kind substitution
  // expect: dof_true 1
  // solution: x = sin(t)
  // solution: y = cos(t)
  Real x(start = 0, fixed = true), y(start = 1);
equation
  (der(x) + time*der(y))^3 + x = (cos(time) - time*sin(time))^3 + sin(time);
  (der(x) + time*der(y)) + (der(x) + time*der(y))^5 + y = cos(time) - time*sin(time) + (cos(time) - time*sin(time))^5 + cos(time);
  annotation(experiment(StopTime = 0.5, Tolerance = 1e-9));
end Substitution;
