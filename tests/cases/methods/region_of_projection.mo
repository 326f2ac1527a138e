model Region "The text of method projection divides by the pivots of the start: it says where it holds, and stops at its edge by name"
  // run: reduce --method projection
  // expect: prints assert(2*'x' > 0.002
  // run: reduce --method projection | simulate
  // expect: exit 6
  // expect: says the choice made at time 0 ends here: 2*x, which the equations divide by
  // run: reduce --method projection | simulate --stop-time 0.5
  // expect: x^2 + y^2 = 1 within 1e-7 everywhere
  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = 1;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end Region;
