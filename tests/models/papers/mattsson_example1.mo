model Example1 "Mattsson and Soderlind, Example 1, (3.1), as its Jacobians have it: (c') holds x4' alone"
  // (3.1a) and (3.1b) are differentiated twice and (3.1c) once. All variables appear differentiated (Example 2), so the
  // index is the number of differentiations; one variable, x2, is left with two derivatives.
  // expect: equations 4
  // expect: index 2
  // expect: dof 2
  // expect: c 2 2 1 0
  // expect: d 2 2 2 1
  // expect: differentiations 5
  // expect: superfluous 3
  Real x1;
  Real x2;
  Real x3;
  Real x4;
equation
  x1 + x2 + sin(time) = 0;
  x1 + x2 + x3 + cos(time) = 0;
  x1 + x4 + time = 0;
  2*der(der(x1)) + der(der(x2)) + der(der(x3)) + der(x4) + time^2 = 0;
end Example1;
