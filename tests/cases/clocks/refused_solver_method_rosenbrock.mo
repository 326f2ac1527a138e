// run: check
// expect: exit 3
// expect: 5:8: solver method `Rosenbrock`
model M
  Real x(start = 1);
equation
  der(x) = -x + sample(time, Clock(Clock(1, 10),  "Rosenbrock" ));
end M;
