model Singular "as many equations as variables, but rate is determined twice and pressure not at all"
  // expect: exit 4
  // expect: status singular
  // expect: equations 3
  // expect: variables 3
  // expect: message structurally singular
  // expect: message the equations at lines 15 and 16 both determine rate
  // expect: message no equation determines pressure
  // expect: message singular.mo:12:
  // reject: level
  Real level(start = 1);
  Real pressure;
  Real rate;
equation
  rate = sin(time);
  2*rate = cos(time);
  der(level) = rate;
end Singular;
