// The equations do not change with q at its start value: Newton's method first makes a step along q, and the report says so. The area of 1e120 is no reason to call the
// equations singular.
// run: init
// expect: q^2 = 2*p within 1e-9
// expect: report.rung = "a step along a flat direction"
// run: simulate
// expect: report.initial.rung = "a step along a flat direction"
// change: 1e120 -> 1e-120 | 1
// run: simulate
// change: q(start = 0) -> q(start = 1)
// expect: report.initial.rung = "start values"
model FlatPlace
  parameter Real area = 1e120;
  Real q(start = 0), p, force, loss;
equation
  force = area*(p - 3);
  force + area*loss = 0;
  loss = 1 + 0*p;
  q*abs(q)/2 = p;
end FlatPlace;
