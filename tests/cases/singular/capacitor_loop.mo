// Capacitors of any value in a loop, and circuits that only look like a loop.
// run: analyze
// expect: report.singular_blocks[0].verdict = "identical"
// run: analyze
// change: 1e-6*(der(b) - der(a)) -> 2e-6*(der(b) + der(a))
// expect: report.singular_blocks = []
model L
  parameter Real C = 1e-6;
  Real a(start = 1), b, i;
equation
  C*(der(a) - der(b)) = i - a;
  1e-6*(der(b) - der(a)) = -i - b;
  i = sin(time);
end L;
