model Rolling
  Real x[2](each start = 0, each fixed = true), phi(start = 0, fixed = true), psi(start = 1, fixed = true), force;
initial equation
  der(phi) = 1;
  der(psi) = 1;
equation
  force = 1;
lagrangian
  for i in 1:2 loop
    der(x[i])^2/2;
  end for;
  der(phi)^2 + der(psi)^2 + (if time > 0.5 then x[1] else 0);
constraint
  der(x) = {der(phi)*cos(psi), der(phi)*sin(psi)} "roll";
end Rolling;
