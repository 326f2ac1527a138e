// run: simulate
// expect: force = 6
// expect: lagrangian = 8 within 1e-6
model M
  parameter Real m = 2, a = 3;
  Real force, constraint[2], lagrangian(start = 1, fixed = true);
equation
  force = m*a;
  constraint = {force, 1};
  der(lagrangian) = force + dissipation;
public
  Real dissipation = 1;
end M;
