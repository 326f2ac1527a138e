model Miller "Kunkel and Mehrmann, (59): the Miller integrator circuit, differentiation index 2"
  // Only u3 = A u2 is differentiated, once (60). One degree of freedom, u2.
  // run: analyze
  // expect: report.equations = 5
  // expect: report.structural_index = 2
  // expect: report.dof = 1
  // expect: report.offsets.c = [0, 0, 0, 0, 1]
  // expect: report.offsets.d = [0, 1, 1, 0, 0]
  // expect: sum(report.differentiations.times) = 1
  // expect: "der(u3) - A*der(u2) = 0" in report.hidden_constraints
  // run: simulate --method strangeness
  // expect: report.strangeness.mu = 1
  // expect: report.strangeness.a = 4
  // expect: report.strangeness.d = 1
  // expect: report.strangeness.v = 0
  // expect: report.strangeness.u = 0
  // run: flatten
  // expect: exit 0
  parameter Real C1 = 1;
  parameter Real C2 = 1;
  parameter Real A = 1;
  parameter Real G = 1;
  Real u1;
  Real u2;
  Real u3;
  Real J;
  Real JV;
equation
  J + G*(u1 - u2) = 0;
  C1*der(u2) - G*(u1 - u2) + C2*(der(u2) - der(u3)) = 0;
  JV - C2*(der(u2) - der(u3)) = 0;
  u1 - sin(time) = 0;
  u3 - A*u2 = 0;
end Miller;
