// An algebraic variable that jumps, and that no state depends on, does not cause small steps.
// run: simulate --stop-time 5 --solver {radau,bdf}
// expect: report.steps + report.rejected < 150
// expect: x = exp(-5) within 1e-5
model M
  Real x(start=1, fixed=true), a;
equation
  der(x) = -x;
  a = noEvent(if sin(9*time) > 0 then 1 else -1)*x;
end M;
