// x reaches 0.2 sin(time) and stays on it.
// run: simulate --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-7 --intervals 3 --stop-time 10
// let: t = 0.849773782733012
// expect: 1 - t = 0.2*sin(t) within 1e-14
// expect: x = 0.2*sin(10) within 1e-4
// expect: y = t - t^2/2 + 0.2*(cos(t) - cos(10)) within 1e-4
// expect: rows < 99
model Slide
  Real x(start=1, fixed=true), y(start=0, fixed=true);
equation
  der(x) = if x > 0.2*sin(time) then -1 else 1;
  der(y) = x;
end Slide;
