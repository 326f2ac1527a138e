// The motion of least jerk from rest to rest: 10 s^3 - 15 s^4 + 6 s^5. The derivatives that are unknown at the start are not variables in the text.
// run: simulate
// expect: q = 10*(time/2)^3 - 15*(time/2)^4 + 6*(time/2)^5 within 1e-8 everywhere
// expect: report.boundary.found["q_der_der_der"] = 60/8 within 1e-7
// run: simulate --segments 3
// expect: q = 10*(time/2)^3 - 15*(time/2)^4 + 6*(time/2)^5 within 1e-8 everywhere
model MinimumJerk
  Real q(start = 0, fixed = true);
initial equation
  der(q) = 0;
  der(der(q)) = 0;
lagrangian
  der(der(der(q)))^2/2;
final equation
  q = 1;
  der(q) = 0;
  der(der(q)) = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-10));
end MinimumJerk;
