// run: simulate --sensitivity k,x.start --tolerance 1e-9
// expect: column("der(x, k)") = -exp(-2) within 1e-8
// expect: column("der(y, k)") = exp(-2) within 1e-8
// expect: column("der(x, x.start)") = exp(-2) within 1e-8
// expect: column("der(der(x), x.start)") = -2*exp(-2) within 1e-8
model M
  parameter Real k = 2;
  Real x(start = 1, fixed = true), y = -x;
equation
  der(x) = -k*x;
end M;
