// A divisor that initialization makes zero, exactly or up to round-off: an error that names the equation. The quotient was 0, 1e10 or 1e17.
// run: simulate
// expect: exit 5
// expect: 28: division by zero
// run: simulate
// change: p = 2; -> p^3 = 0.001;
// change: b = 5.6/(a - 2) -> b = 5.6/(a - 0.1)
// expect: exit 5
// expect: 28: division by zero up to round-off
// run: simulate
// change: b = 5.6/(a - 2) -> b = 5.6*(p + 0.2 - 2.2)^(-1)
// expect: exit 5
// expect: says division by zero
// run: simulate
// change: b = 5.6/(a - 2) -> b = if abs(a - 2) < 1e-9 then 7 else 5.6/(a - 2)
// expect: b = 7 everywhere
// run: simulate
// change: b = 5.6/(a - 2) -> b = 5.6/(a - 2.00000001)
// expect: b = -5.6e8 within 100 everywhere
// run: simulate
// change: p(fixed = false, start = 1) -> p = 0.1, q = 0.2
// change: initial equation p = 2; -> /* none */
// change: b = 5.6/(a - 2); a = p; -> b = 5.6/(a - 0.3); a = p + q;
// expect: exit 5
// expect: says division by zero up to round-off
model DividesByZero parameter Real p(fixed = false, start = 1); Real a, b; initial equation p = 2;
equation
  b = 5.6/(a - 2); a = p;
end DividesByZero;
