// run: simulate --solver auto --tolerance 1e-6 --stop-time 1 --intervals 3
// expect: exit 6
// expect: says do not determine by how much x jumps
model Higher
  Real x(start=0.6, fixed=true), y(start=-0.8), vx(start=0, fixed=true), vy(start=0), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = if time < 0.3 then 1 else 0.9;
end Higher;
