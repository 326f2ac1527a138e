// run: simulate --stop-time 1
// expect: y = 15 within 0.00015
model World
  parameter Real g = 2;
  function pull = base(k = g);
end World;
function base
  input Real x;
  input Real k = 1;
  output Real y;
algorithm
  y := k*x;
end base;
model M
  World w(g = 5);
  Real y = w.pull(3);
end M;
