model Skate "Shmoylova, Gerhard, Postma and Roche, section 1: a mechanical system with a nonholonomic constraint, index 2"
  // A skate on an inclined plane. The constraint is linear in the velocities, which are x of (4); lambda is z.
  // run: analyze
  // expect: report.equations = 7
  // expect: report.structural_index = 2
  // expect: report.dof = 5
  // expect: report.offsets.c = [0, 0, 0, 0, 0, 0, 1]
  // expect: report.offsets.d = [1, 1, 1, 1, 1, 1, 0]
  // run: flatten
  // expect: exit 0
  Real x(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
  Real phi(start = 0.3, fixed = true);
  Real vx(start = 1);
  Real vy;
  Real w(start = 1, fixed = true);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(phi) = w;
  der(vx) = 1 - lambda*sin(phi);
  der(vy) = lambda*cos(phi);
  der(w) = 0;
  vx*sin(phi) - vy*cos(phi) = 0;
end Skate;
