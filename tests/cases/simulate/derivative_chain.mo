// Mattsson and Söderlind (1.2): no degree of freedom, everything follows by differentiation.
// run: simulate --stop-time 3 --solver {auto,radau,bdf,ida}
// expect: report.states = 0
// expect: x = sin(time) within 1e-13 everywhere
// expect: y = cos(time) within 1e-13 everywhere
// expect: z = -sin(time) within 1e-13 everywhere
model M
  Real x, y, z;
equation
  der(x) = y;
  der(y) = z;
  x = sin(time);
end M;
