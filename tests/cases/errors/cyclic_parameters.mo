model CyclicParameters
  // run: check
  // expect: exit 3
  // expect: 5:18: `a`
  parameter Real a = b;
  parameter Real b = c + 1;
  parameter Real c = 2*a;
  Real x;
equation
  x = a;
end CyclicParameters;
