model Singular "as many equations as variables, but rate is determined twice and pressure not at all"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "singular"
  // expect: report.equations = 3
  // expect: report.variables = 3
  // expect: says /structurally singular/
  // expect: says /the equations at lines 16 and 17 both determine rate/
  // expect: says /no equation determines pressure/
  // expect: says /singular.mo:13:/
  // expect: never says /level/
  Real level(start = 1);
  Real pressure;
  Real rate;
equation
  rate = sin(time);
  2*rate = cos(time);
  der(level) = rate;
end Singular;
