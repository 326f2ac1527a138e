// The values come from 60000 steps of the Runge-Kutta method with the angle: the speed is continuous where the length changes.
// run: simulate --solver {auto,erk,radau,bdf,ida,cvode} --tolerance 1e-7 --intervals 3 --stop-time 3
// expect: x = -0.08455011823 within 1e-4
// expect: y = -0.99279942929 within 1e-4
// expect: rows < 99
model Peg  "a pendulum of length 1 whose rope meets a peg below its pivot"
  parameter Real h = 0.5, g = 9.81;
  Real x(start=0.6, fixed=true), y(start=-0.8), vx(start=0, fixed=true), vy(start=0), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*(if x < 0 then y + h else y) - g;
  (if x < 0 then x^2 + (y + h)^2 - (1 - h)^2 else x^2 + y^2 - 1) = 0;
end Peg;
