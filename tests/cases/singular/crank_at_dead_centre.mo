// The slider is driven; the rods are in line at x = 3.
// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = 1 within 1e-6
// expect: report.singular.rank = 1
// expect: says cos(a) + 2*cos(b) = x
model M
  Real a(start = 1.0), b(start = 0.4), x;
equation
  x = 3 - 0.5*(1 - time)^2 + 0.3*(time - 1);
  cos(a) + 2*cos(b) = x;
  sin(a) = 2*sin(b);
  annotation(experiment(StopTime = 3));
end M;
