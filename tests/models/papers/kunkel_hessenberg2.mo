model Hessenberg2 "Kunkel and Mehrmann, (35): a Hessenberg system of order 2, blocks of sizes 2 and 1"
  // The last block row is differentiated once; m1 - s = 1 degree of freedom.
  // expect: equations 3
  // expect: index 2
  // expect: dof 1
  // expect: c 0 0 1
  // expect: d 1 1 0
  // expect: differentiations 1
  // expect: blocks 1
  Real a1;
  Real a2;
  Real b;
equation
  der(a1) = a1 + 2*a2 + b + sin(time);
  der(a2) = -a1 + a2 + 3*b;
  0 = 2*a1 + a2 + cos(time);
end Hessenberg2;
