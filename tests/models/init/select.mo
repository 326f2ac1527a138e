model Select "what should be a state moves a hundred times less"
  // expect exit 0
  // The nearest point of x + y = 1 to (0, 0) with moves of x weighing 1/0.01: x = 1e-4/(1 + 1e-4).
  // expect value x 9.99900009999e-05 1e-9
  // expect value y 0.9999000099990001 1e-9
  Real x(start = 0, stateSelect = StateSelect.always);
  Real y(start = 0);
  Real u;
equation
  der(x) = u;
  der(y) = u;
  x + y = 1;
end Select;
