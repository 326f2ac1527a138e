// An assertion that fails for less than 1e-10 of the run gives a warning. Otherwise the run ends at the time at which the assertion began to fail, even if the equations are not defined
// there, or the condition is true again at the end of the next step.
// run: simulate --solver {auto,radau,bdf}
// change: CONDITION -> abs(x - 0.5) > 1e-11
// expect: says assertion failed at time 0.5 for 2e-11, which is too short to end the run
// expect: x = 1 within 1e-9
// run: simulate
// change: CONDITION -> x > -1
// expect: x = 1 within 1e-9
// expect: never says assertion
// run: simulate --solver {auto,radau,bdf}
// change: CONDITION -> abs(x - 0.5) > 1e-9 | abs(x - 0.5) > 0.001 | not late | x < 0.5 or x > 0.5 + 1e-9
// expect: exit 6
// expect: says /assertion failed at time 0.(5|499)/
// expect: largest(time) < 0.5 + 1e-6
// run: simulate --solver {auto,radau,bdf}
// change: CONDITION -> x < 0.5
// change: der(x) = 1 -> der(x) = 1 + 0*sqrt(0.5 - x)
// expect: exit 6
// expect: says assertion failed at time 0.5
// run: simulate
// change: CONDITION -> time < 1
// expect: exit 6
model AssertionsForAnInstant
  Real x(start = 0, fixed = true);
  Boolean late = x > 0.5;
equation
  der(x) = 1;
  assert(CONDITION, "wrong");
end AssertionsForAnInstant;
