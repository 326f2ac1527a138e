// Troesch's problem. The slopes at the start are those of Roberts and Shipman (1972): 4.5750461e-2 for n = 5, 3.5833778e-4 for
// n = 10. A single shot ends in a pole before the end of the interval, so several segments are used.
// run: simulate
// expect: report.boundary.found["v"] = 4.5750461e-2 within 1e-9
// expect: report.boundary.segments > 1
// expect: y = 1 within 1e-7
// run: simulate --override n=10
// expect: report.boundary.found["v"] = 3.5833778e-4 within 1e-11
// run: simulate --segments {5,12}
// expect: report.boundary.found["v"] = 4.5750461e-2 within 1e-9
// expect: report.boundary.conditions = 1 + 2*(option.segments - 1)
// run: simulate --segments 1
// expect: exit 6
// run: flatten
// expect: line final equation
// run: flatten | simulate
// expect: report.boundary.found["v"] = 4.5750461e-2 within 1e-9
// run: analyze
// run: init
// run: compare
// expect: exit 2
// expect: says the model has final equations
model Troesch
  parameter Real n = 5;
  Real y(start = 0, fixed = true), v(start = 0.1);
equation
  der(y) = v;
  der(v) = n*sinh(n*y);
final equation
  y = 1;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Troesch;
