model Example5 "Mattsson and Soderlind, Example 5, (4.6): structurally sound, numerically singular"
  // Pantelides's algorithm differentiates the second equation once. The structure says one degree of freedom; the true
  // number is none, which no structural analysis can see.
  // expect: equations 2
  // expect: index 1
  // expect: dof 1
  // expect: c 0 1
  // expect: d 1 1
  // expect: differentiations 1
  // expect: blocks 1
  Real x;
  Real y;
equation
  der(x) + time*der(y) = sin(time);
  x + time*y = cos(time);
end Example5;
