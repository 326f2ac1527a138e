// The tolerance of the second run is too small for this model: a message says so, and the first run is the same as without --verify.
// run: simulate --verify --tolerance 1e-3 --solver erk
// expect: report.status = "ok"
// expect: report.verify.status = "integration"
// expect: report.verify.digits = null
// expect: size(report.verify.variables) = 0
// expect: says the run is not verified: the second one, by radau at tolerance 1e-05, failed: assertion failed at time 0.9: "too exact" [D911]
// expect: says /verified +no: radau at tolerance 1e-05 failed: assertion failed/
// expect: time = 1
model Fails
  Real x(start = 1, fixed = true);
  discrete Real miss(start = 0, fixed = true);
equation
  der(x) = -x;
  when sample(0.9, 10) then
    miss = abs(x*exp(time) - 1);
    assert(miss > 3e-6, "too exact");
  end when;
end Fails;
