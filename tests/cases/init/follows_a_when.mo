// run: simulate --stop-time 1 --intervals 4
// expect: x = 3 within 5e-13 at start
// expect: d = 3.5 within 5e-13
model M
  Real x;
  discrete Real d;
initial equation
  x = d;
equation
  der(x) = 1;
  when {initial(), time >= 0.5} then
    d = 3 + time;
  end when;
end M;
