model Cancelled "x cancels, so that y is determined twice and x not at all"
  // run: analyze
  // expect: exit 4
  // expect: report.status = "singular"
  // expect: says /the equations at lines 10 and 11 both determine y/
  // expect: says /no equation determines x/
  Real x;
  Real y;
equation
  x + y - x = 1;
  2*y = time;
end Cancelled;
