// The run with the values found is differentiated: its options are not those of the search.
// run: simulate --gradient x --solver {auto,radau}
// expect: x = 1 within 1e-6
// expect: report.gradient.derivatives["v.start"] = sin(3)/3 within 1e-6
// run: simulate --sensitivity x.start
// expect: column("der(x, x.start)") = cos(3) within 1e-5
// run: simulate --variables v --intervals 3
// expect: rows = 4
model Differentiated
  Real x(start = 0, fixed = true), v(start = 1);
equation
  der(x) = v;
  der(v) = -9*x;
final equation
  x = 1;
end Differentiated;
