// Mattsson and Söderlind's Example 5 together with an integral that changes at 1, and with a redundant equation.
// run: simulate --method strangeness --solver {erk,radau,bdf} --tolerance 1e-8
// expect: report.strangeness.mu = 1
// expect: report.strangeness.a = 2
// expect: report.strangeness.d = 1
// expect: report.strangeness.v = 0
// expect: report.strangeness.u = 0
// expect: report.events = 1
// expect: y = -2*sin(2) within 1e-7
// expect: z = 1 + 2*(cos(2) - cos(1)) within 1e-6
// run: simulate --method strangeness --solver {erk,radau,bdf} --tolerance 1e-8
// change: x + time*y = cos(time); -> x + time*y = cos(time); 2*x + 2*time*y = 2*cos(time);
// expect: report.strangeness.mu = 1
// expect: report.strangeness.a = 2
// expect: report.strangeness.d = 1
// expect: report.strangeness.v = 1
// expect: report.strangeness.u = 0
// expect: report.events = 1
// expect: y = -2*sin(2) within 1e-7
// expect: z = 1 + 2*(cos(2) - cos(1)) within 1e-6
model M
  Real x, y, z(start = 0, fixed = true);
equation
  der(x) + time*der(y) = sin(time);
  x + time*y = cos(time);
  der(z) = if time < 1 then 1 else y;
  annotation(experiment(StopTime = 2));
end M;
