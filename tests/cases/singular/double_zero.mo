// The determinant is cos(a)^2 + cos(b)^2, a = b: it touches zero where a = pi/2, and the explicit method would step over it.
// a'' = -0.05*sin(a): the time from 0.3 to pi/2 by quadrature of da / sqrt(1 + 0.1*(cos(a) - cos(0.3))).
// let: h = (pi/2 - 0.3)/2000
// let: T = sum(h/sqrt(1 + 0.1*(cos(0.3 + (k + 0.5)*h) - cos(0.3))) for k in range(2000))
// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = T within 1e-6*max(T, 1)
// expect: report.singular.rank = 2
// expect: says sin(a) = sin(b)
model M
  Real a(start = 0.3, fixed = true), w(start = 1, fixed = true), b(start = 0.3), l;
equation
  der(a) = w;
  der(w) = -0.1*sin(a) + l*cos(a);
  sin(a) = sin(b);
  der(der(b)) = -l*cos(b);
  annotation(experiment(StopTime = 6));
end M;
