model TooMany "three equations for two variables"
  // expect: exit 4
  // expect: status unbalanced
  // expect: equations 3
  // expect: variables 2
  // expect: message 3 equations for 2 variables
  // expect: message the equations at lines 13 and 14 both determine rate
  // reject: too_many.mo:12:
  Real level(start = 1);
  Real rate;
equation
  der(level) = rate;
  rate = sin(time);
  2*rate = cos(time);
end TooMany;
