// A parameter that initialization finds keeps its value when the equations change.
// run: simulate --solver auto --tolerance 1e-8 --stop-time 1 --intervals 3 --method {dummy,minimal,none}
// expect: g = exp(-0.5) within 1e-6
// expect: v = 0.25 within 1e-6
model M
  parameter Real p(fixed = false, start = 1);
  Real g(start = 1, fixed = true), v(start = 0);
initial equation
  der(g) = -0.5;
equation
  der(g) = -p*g;
  if time > 0.5 then
    der(v) = p;
  else
    v = 0;
  end if;
end M;
