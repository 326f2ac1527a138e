// The product of two relays: only one of them slides, and a warning reports the hysteresis of the other.
// run: simulate -q --solver auto --tolerance 1e-6 --intervals 3 --stop-time 3
// expect: report.events < 10000
// expect: abs(x) + abs(y) < 0.05
// expect: sum(occurrences(message, "grew to") for message in report.diagnostics.message) > 0
model M
  Real x(start = 1, fixed = true), y(start = 0.7, fixed = true);
equation
  der(x) = -sign(x)*(2 + 0.5*sign(y));
  der(y) = -sign(y)*(2 - 0.5*sign(x));
end M;
