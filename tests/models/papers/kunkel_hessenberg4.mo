model Hessenberg4 "Kunkel and Mehrmann, (34) with r = 4, scalar blocks"
  // expect: equations 4
  // expect: index 4
  // expect: dof 0
  // expect: c 0 1 2 3
  // expect: d 1 2 3 0
  // expect: differentiations 6
  // expect: blocks 4
  Real x1;
  Real x2;
  Real x3;
  Real x4;
equation
  der(x1) = x1 + x2 - x3 + 2*x4;
  der(x2) = 3*x1 - x2 + x3;
  der(x3) = x2 + x3 + sin(time);
  0 = 2*x3 + cos(time);
end Hessenberg4;
