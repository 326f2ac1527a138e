// A crank and a rod of equal length: when they fold, the slider may stay in the middle from then on. Methods that do not have such blocks step over that time, and say so.
// run: simulate --method ggl
// expect: exit 0
// expect: says /near time 1.24273\d* the determinant of a Jacobian is zero, and this method steps over it/
// expect: says /equation `sin\(phi\) \+ sin\(th\) = 0`/
// run: simulate --method overdetermined --tolerance 1e-5
// expect: exit 0
// expect: says /near time 1.24273\d* the determinant of a Jacobian is zero, and this method steps over it/
// run: simulate --method dummy
// expect: exit 6
// expect: says /stopped at time 1.24273/
model Slider
  Real phi(start = 0.1, fixed = true), x(start = 1.9), th(start = -0.1), w(start = 2, fixed = true), lam1, lam2;
equation
  der(phi) = w;
  cos(phi) + cos(th) = x;
  sin(phi) + sin(th) = 0;
  der(w) = -sin(phi)*lam1 + cos(phi)*lam2;
  der(der(x)) = -lam1;
  0 = -sin(th)*lam1 + cos(th)*lam2;
  annotation(experiment(StopTime = 2));
end Slider;
