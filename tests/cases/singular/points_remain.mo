// atan(tan(x)) = x is not among the rules: points remain.
// run: analyze
// expect: exit 4
// expect: report.singular_blocks[0].verdict = "identical"
model F
  Real x, y;
equation
  50*atan(tan(x/50))*der(x) + x*der(y) = 1;
  x*der(x) + x*der(y) = 2;
end F;
