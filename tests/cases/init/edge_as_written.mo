// x stays at 0, so that x > 0 is false at the start and after it, and z^2 = -1 has no solution. The search for modes must not keep the value of x > 0 from its last attempt and accept z = 1
// as an initial value. A relation that stays on its edge has its literal value.
// run: init
// expect: exit 5
// expect: says no consistent initial values
// run: init
// change: x > 0 -> x >= 0
// expect: z = 1
// run: init
// change: der(x) = 0 -> der(x) = 1
// expect: z = 1
model EdgeAsWritten
  Real x(start = 0, fixed = true), z(start = 0.5);
equation
  der(x) = 0;
  z^2 = if x > 0 then 1 else -1;
end EdgeAsWritten;
