// A search that fails does not claim that there is no solution.
// run: init
// change: tanh(x*z) -> tanh(x*z) | x*z/sqrt(1 + (x*z)^2) | sin(x*z)
// expect: exit 5
// expect: says no consistent initial values found:
// expect: never says contradict
// expect: never prints contradict
model M
  Real x(start = 5), z(start = 3, fixed = true);
equation
  tanh(x*z) = 1.5;
  der(z) = -z;
end M;
