// A constraint with a delay is differentiated: the derivative of the delay is 0 until the delay time has passed.
// run: simulate --stop-time 2 --tolerance 1e-8 --method {dummy,minimal,underlying}
// expect: x = (1 if time < 0.5 else exp(0.5 - time)) + sin(time) within 1e-6 everywhere
// expect: f = (0 if time < 0.5 else -exp(0.5 - time)) + cos(time) within 1e-4 where abs(time - 0.5) > 1e-9
model M
  Real x, y(start=1, fixed=true), f;
equation
  der(x) = f;
  der(y) = -y;
  x = delay(y, 0.5) + sin(time);
end M;
