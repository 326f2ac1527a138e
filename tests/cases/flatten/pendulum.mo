model Pendulum
  // run: check
  // expect: exit 0
  // run: flatten
  // expect: line 'x'^2 + 'y'^2 = 'L'^2;
  // expect: line annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-08, Interval = 0.01));
  parameter Real L = 1, g = 9.81, m = 1;
  Real x(start = 1, fixed = true), y, vx(stateSelect = StateSelect.prefer), vy, F(start = 0, nominal = 10);
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/L;
  m*der(vy) = -F*y/L - m*g;
  x^2 + y^2 = L^2;
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-8, Interval = 0.01));
end Pendulum;
