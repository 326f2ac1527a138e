model TooFew "four equations for five variables; a and b are fine"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "unbalanced"
  // expect: report.equations = 4
  // expect: report.variables = 5
  // expect: says /4 equations for 5 variables/
  // expect: says /too_few.mo:15:\d+: note: x, y and z are determined by two equations only/
  // expect: says /too_few.mo:21:\d+: note: .*x \+ y/
  // expect: says /too_few.mo:22:\d+: note: .*y\*z/
  // expect: says /add an equation/
  // expect: never says /too_few.mo:(13|14|19|20):/
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
