model Steady "steady state of a nonlinear system"
  // run: init
  // expect: exit 0
  // expect: T = 2 within 3e-13
  // expect: report.values["T"].how = "computed"
  // expect: report.residual < 1e-12
  Real T(min = 0.1);
initial equation
  der(T) = 0;
equation
  der(T) = 16 - T^4;
end Steady;
