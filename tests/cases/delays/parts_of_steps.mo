// A delayed value that moves faster than the states is kept in parts of steps. The values that an early output point of a step reads must still be known after the last part is added.
// run: simulate --stop-time 30 --tolerance 1e-7 --intervals 3000 --solver {erk,radau,bdf}
// expect: y = (0 if time < 0.5 else sin(40*(time - 0.5))) within 1e-4 everywhere
model M
  Real x(start=1, fixed=true), y, u;
equation
  der(x) = -0.1*x;
  u = sin(40*time);
  y = delay(u, 0.5);
end M;
