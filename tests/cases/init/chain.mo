model Chain "Hessenberg blocks in a triangular chain (section 5) with functions of closed form"
  // The values are checked against the formulas of the paper in tests/test_init.py.
  // run: init
  // expect: exit 0
  // expect: [[part.index] + part.highest_index for part in report.parts] = [[2, "R"], [2, "Tc"]]
  // expect: report.residual < 1e-12
  parameter Real K1 = 2;
  parameter Real K2 = 3;
  parameter Real K3 = 5;
  parameter Real K4 = 7;
  Real C(start = 1);
  Real R(start = 1);
  Real T(start = 4);
  Real Tc(start = 1);
equation
  der(C) = K1*((2 + time) - C) - R;
  0 = C - (1 + 0.5*time^2);
  der(T) = K1*(6 - T) + K2*R - K3*(T - Tc);
  0 = R - K3*exp(-K4/T)*C;
end Chain;
