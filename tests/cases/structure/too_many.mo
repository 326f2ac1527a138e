model TooMany "three equations for two variables"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "unbalanced"
  // expect: report.equations = 3
  // expect: report.variables = 2
  // expect: says /3 equations for 2 variables/
  // expect: says /the equations at lines 14 and 15 both determine rate/
  // expect: never says /too_many.mo:13:/
  Real level(start = 1);
  Real rate;
equation
  der(level) = rate;
  rate = sin(time);
  2*rate = cos(time);
end TooMany;
