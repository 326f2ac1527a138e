// It moves from sin t = 1/2 on, until v = cos t0 - cos t - (t - t0)/2 is zero again.
// run: simulate --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-7 --intervals 3 --stop-time 2.5
// expect: v = cos(pi/6) - cos(2.5) - (2.5 - pi/6)/2 within 1e-5
// expect: rows < 99
model Stick  "Coulomb friction: sticks while the force is below 0.5"
  Real v(start=0, fixed=true);
equation
  der(v) = sin(time) - 0.5*sign(v);
end Stick;
