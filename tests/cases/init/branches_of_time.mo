// A branch that time has not reached overflows; a relation depends on the variable that the branch defines.
// run: simulate --stop-time 1 --intervals 1
// expect: x = exp(-2) within 1e-5
model Late
  Real y, x(start=1, fixed=true);
equation
  assert(1 + y > 0,  "low" );
  y = if time < 1000 then 2 else exp(-(time - 1000)/0.5);
  der(x) = -y*x;
end Late;
