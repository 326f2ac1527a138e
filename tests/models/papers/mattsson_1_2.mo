model DerivativeChain "Mattsson and Soderlind, (1.2): an index three derivative chain"
  // (1.2a) is differentiated once and (1.2c) twice; no initial conditions can be imposed.
  // expect: equations 3
  // expect: index 3
  // expect: dof 0
  // expect: c 1 0 2
  // expect: d 2 1 0
  // expect: differentiations 3
  // expect: blocks 3
  Real x;
  Real y;
  Real z;
equation
  der(x) = y;
  der(y) = z;
  x = sin(time);
end DerivativeChain;
