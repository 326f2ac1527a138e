model Miller "Kunkel and Mehrmann, (59): the Miller integrator circuit, differentiation index 2"
  // Only u3 = A u2 is differentiated, once (60). One degree of freedom, u2.
  // expect: equations 5
  // expect: index 2
  // expect: dof 1
  // expect: c 0 0 0 0 1
  // expect: d 0 1 1 0 0
  // expect: differentiations 1
  // expect: hidden der(u3) - A*der(u2) = 0
  parameter Real C1 = 1;
  parameter Real C2 = 1;
  parameter Real A = 1;
  parameter Real G = 1;
  Real u1;
  Real u2;
  Real u3;
  Real J;
  Real JV;
equation
  J + G*(u1 - u2) = 0;
  C1*der(u2) - G*(u1 - u2) + C2*(der(u2) - der(u3)) = 0;
  JV - C2*(der(u2) - der(u3)) = 0;
  u1 - sin(time) = 0;
  u3 - A*u2 = 0;
end Miller;
