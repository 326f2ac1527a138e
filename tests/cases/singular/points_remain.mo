// No rule simplifies atan(tan(x)) to x, so the check needs random points.
// run: analyze
// expect: exit 4
// expect: report.singular_blocks[0].verdict = "identical"
model F
  Real x, y;
equation
  50*atan(tan(x/50))*der(x) + x*der(y) = 1;
  x*der(x) + x*der(y) = 2;
end F;
