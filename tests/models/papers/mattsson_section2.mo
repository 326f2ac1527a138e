model Superfluous "Mattsson and Soderlind, section 2: index 1, and Pantelides's algorithm differentiates nevertheless"
  // expect: equations 2
  // expect: index 1
  // expect: dof 1
  // expect: c 0 1
  // expect: d 1 1
  // expect: differentiations 1
  // expect: superfluous 1
  // expect: blocks 1
  Real x;
  Real y;
equation
  der(x) + der(y) = 1;
  x - y = 0;
end Superfluous;
