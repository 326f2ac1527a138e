model Copies "Many copies of Mattsson and Soderlind's Example 5: each is rewritten, however many there are"
  // run: simulate
  // expect: size(report.conversions) = 1000
  // expect: x[1] = cos(time) + 2*time*sin(time) within 1e-6 everywhere
  // expect: x[1000] = 1000*x[1] within 1e-3 everywhere
  // expect: y[500] = -1000*sin(time) within 1e-3 everywhere
  // run: simulate
  // change: cos(time)*k -> cos(time)*k + (if k > 1 and mod(k, 2) == 0 then 0.1*y[max(k - 1, 1)] else 0)
  // expect: size(report.conversions) = 1000
  // expect: x[2] + time*y[2] = 2*cos(time) + 0.1*y[1] within 1e-6 everywhere
  // expect: y[2] = -4*sin(time) - 0.2*cos(time) within 1e-6 everywhere
  // expect: y[1] = -2*sin(time) within 1e-6 everywhere
  parameter Integer n = 1000;
  Real x[n], y[n];
equation
  for k in 1:n loop
    der(x[k]) + time*der(y[k]) = sin(time)*k;
    x[k] + time*y[k] = cos(time)*k;
  end for;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8, Interval = 0.5));
end Copies;
