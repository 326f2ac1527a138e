// Along the run of x' = -x^2 the matrix is -2 x.
// run: linearize -q --at 1.5 --tolerance 1e-10
// expect: report.time = 1.5
// expect: report.A[0][0] = -2/(0.5 + 1.5) within 1e-8
model M
  Real x(start = 2, fixed = true);
equation
  der(x) = -x^2;
end M;
