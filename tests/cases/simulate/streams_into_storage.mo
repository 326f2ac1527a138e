// Streams meet in a volume that stores. Its enthalpy follows from the stored content, and is not the mean of the streams: flows of 1e-10 with m = 1e-9 exchange the content in ten seconds,
// from either side.
// run: simulate --stop-time 20 --tolerance 1e-8 --solver {auto,radau}
// expect: h = 2.1 + 2.9*exp(-0.1*time) within 1e-6 everywhere
// expect: state_h = h within 1e-12 everywhere
// run: simulate --stop-time 20 --tolerance 1e-8
// change: w = 1e-10 -> w = -1e-10
// expect: h = 7.1 - 2.1*exp(-0.1*time) within 1e-6 everywhere
model Streams
  parameter Real w = 1e-10, m = 1e-9, left = 2, right = 7, heat = 1e-11;
  Real y(start = 1, fixed = true);
  Real h(start = 5, fixed = true), state_h, U(nominal = 1e-9), gain(nominal = 1e-10);
  Real H[2](each nominal = 1e-10), x[2](each nominal = 1e-10);
equation
  der(U) = gain + heat;
  gain = H[1] - H[2];
  H[1] = semiLinear(x[1], left, h);
  H[2] = semiLinear(x[2], h, right);
  x[1] = w*y;
  x[2] = w*y;
  der(y) = 0;
  U = m*h;
  state_h = U/m;
end Streams;
