// They end in an error that names the condition, or at rest.
// run: simulate -q --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-6 --intervals 3 --stop-time 20
// expect: exit 0 or 6
// expect: report.events < 20000
// expect: status == 6 or abs(x) + abs(v) < 0.1
// expect: status == 0 or matches(stderr, "condition (x|v|der[(]x[)]) > 0 changes infinitely often before")
model Twist  "comes to rest at the origin after infinitely many changes"
  Real x(start=1, fixed=true), v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = -(if x > 0 then 1 else -1) - 0.5*(if v > 0 then 1 else -1);
end Twist;
