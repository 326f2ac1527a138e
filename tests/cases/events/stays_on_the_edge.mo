// Each value of the condition leads back to the other one: after reaching the edge, the solution stays on it.
// run: simulate --solver {erk,radau} --stop-time 1 --tolerance 1e-4
// expect: says /state events +[12]\n/
// expect: abs(x) < 2e-4
// expect: z = 0.125 within 1e-3
model Slides
  Real x(start=0.5, fixed=true);
  Real z(start=0, fixed=true);
equation
  der(x) = if x > 0 then -1 else 1;
  der(z) = x;
end Slides;
