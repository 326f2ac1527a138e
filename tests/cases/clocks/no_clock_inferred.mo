// If no clock is defined, the fastest one ticks once a second (Modelica Language Specification 3.6, 16.3), with a warning.
// run: simulate --stop-time 3.5
// expect: says no clock can be inferred for `y`
// expect: y = 1 at 0.5
// expect: y = 4
// expect: z = 3
// run: simulate --stop-time 3.5
// change: subSample -> superSample
// expect: says with others that tick once a second
// expect: y = 2
// expect: z = 2
model M
  Integer y(start = 0), z(start = 0);
equation
  y = previous(y) + 1;
  z = (if previous(z) > 2 then 3 else 0) + subSample(y, 2);
end M;
