model TooFew "four equations for five variables; a and b are fine"
  // expect: exit 4
  // expect: status unbalanced
  // expect: equations 4
  // expect: variables 5
  // expect: message 4 equations for 5 variables
  // expect: message too_few.mo:14:\d+: note: x, y and z are determined by two equations only
  // expect: message too_few.mo:20:\d+: note: .*x \+ y
  // expect: message too_few.mo:21:\d+: note: .*y\*z
  // expect: message add an equation
  // reject: too_few.mo:(12|13|18|19):
  Real a(start = 1);
  Real b;
  Real x;
  Real y;
  Real z;
equation
  der(a) = -a;
  b = 2*a;
  x + y = a;
  y*z = b;
end TooFew;
