// Third derivatives in the Lagrangian, and a constraint; compared with the same model in the angle.
// Equations (67) and (72) of Shmoylova et al. with k = 3: n + (2k - 1)(n - m) = 7 differential equations are left.
// run: simulate --energy --method {dummy,minimal,projection,ggl,underlying,overdetermined,strangeness}
// reference: files/any_order.mo simulate
// expect: y = reference.y within 1e-6 everywhere
// expect: x^2 + y^2 = 1 within 1e-6 everywhere
// expect: abs(energy.balance) < 1e-5 everywhere
// run: reduce --method projection
// expect: prints 7 differential equations, 0 algebraic
// run: reduce --method projection | simulate
// reference: files/any_order.mo simulate
// expect: y = reference.y within 1e-6 everywhere
model Plane
  Real x(start = 1), y(start = 0, fixed = true);
initial equation
  der(y) = 1;
  der(der(y)) = 0;
  der(der(der(y))) = -1.1;
  der(der(der(der(y)))) = 0;
  der(der(der(der(der(y))))) = 1;
lagrangian
  (der(der(der(x)))^2 + der(der(der(y)))^2)/2 - 7*(der(der(x))^2 + der(der(y))^2) + 49/2*(der(x)^2 + der(y)^2);
constraint
  x^2 + y^2 = 1 "rod";
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Plane;
