// Values that --strict refuses: a constant that is not a number, a constant without a value, the sum of a scalar, a varying level of assert.
// run: check
// run: check --strict
// expect: exit 3
// expect: says the value of constant `c` is not a number
// run: check --strict
// change: log(-1) -> log(2)
// expect: exit 3
// expect: says constant `d` has no value
// run: check --strict
// change: log(-1) -> log(2)
// change: constant Real d; -> constant Real d = 2;
// expect: exit 3
// expect: says argument 1 of `sum` is Real, expected an array
// run: check --strict
// change: log(-1) -> log(2)
// change: constant Real d; -> constant Real d = 2;
// change: sum(x) -> sum({x})
// expect: exit 3
// expect: says the level of assert depends on variables
model StrictValues
  constant Real c = log(-1);
  constant Real d;
  AssertionLevel level = if time > 1 then AssertionLevel.error else AssertionLevel.warning;
  Real x = time + d;
  Real y = sum(x);
equation
  assert(time < 2, "late", level);
end StrictValues;
