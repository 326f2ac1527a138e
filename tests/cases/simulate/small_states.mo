// A state that stays below its absolute tolerance, which is the tolerance times nominal, does not influence the choice of steps. The report names it. It is resolved without a nominal value,
// with a nominal value of its size, or at a smaller tolerance. A state that is zero up to round-off is not named.
// run: simulate --tolerance 1e-3
// change: q(start -> q(nominal = 1, start
// expect: report.below_tolerance.name = ["q"]
// expect: report.below_tolerance["q"].largest = 1e-6
// expect: report.below_tolerance["q"].absolute_tolerance = 1e-3
// expect: says few digits               q, 1e-06 at most, absolute tolerance 0.001: give it a nominal value
// run: simulate --tolerance 1e-3
// expect: report.below_tolerance = []
// expect: never says few digits
// expect: q = 1e-6*exp(-1)*cos(9) within 1e-8
// run: simulate --tolerance 1e-3
// change: q(start -> q(nominal = 1e-6, start
// expect: report.below_tolerance = []
// expect: q = 1e-6*exp(-1)*cos(9) within 1e-8
// run: simulate --tolerance 1e-7
// change: q(start -> q(nominal = 1, start
// expect: report.below_tolerance = []
model SmallStates
  Real x(start = 1, fixed = true), q(start = 1e-6, fixed = true), p(start = 0, fixed = true, nominal = 1e-6);
  Real noise(start = 1e-17, fixed = true);
equation
  der(x) = -x;
  der(q) = -q - 9*p;
  der(p) = -p + 9*q;
  der(noise) = -noise;
end SmallStates;
