model Cancelled "x cancels, so that y is determined twice and x not at all"
  // expect: exit 4
  // expect: status singular
  // expect: message the equations at lines 9 and 10 both determine y
  // expect: message no equation determines x
  Real x;
  Real y;
equation
  x + y - x = 1;
  2*y = time;
end Cancelled;
