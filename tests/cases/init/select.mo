model Select "what should be a state moves a hundred times less"
  // run: init
  // expect: exit 0
  // The nearest point of x + y = 1 to (0, 0) with moves of x weighing 1/0.01: x = 1e-4/(1 + 1e-4).
  // expect: x = 9.99900009999e-05 within 1e-09
  // expect: y = 0.9999000099990001 within 2e-09
  // expect: report.residual < 1e-12
  Real x(start = 0, stateSelect = StateSelect.always);
  Real y(start = 0);
  Real u;
equation
  der(x) = u;
  der(y) = u;
  x + y = 1;
end Select;
