// A parameter that initial equations determine does not decide which terms vanish before it has its value: g is not 0 here.
// run: simulate --stop-time 1
// let: exact = 0.5 + 0.1*sin(1)
// expect: c = exact within 1e-6
// expect: T = log((2 - exact - 0.1*cos(1))/exact) within 1e-5
model M
  parameter Real a = 2;
  parameter Real k(fixed = false);
  parameter Real g = a/k;
  Real v, c, T, gamma, u;
initial equation
  k = abs(a);
equation
  v = 0.5 + 0.1*sin(time);
  c = v*g;
  gamma = c*exp(T);
  der(c) = 2 - gamma - c;
  der(T) = gamma - T + u;
end M;
