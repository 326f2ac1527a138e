// The brachistochrone by Pontryagin's equations, written by hand, with a free end time. The solution is a cycloid through (1, 1). Its rolling angle t solves (1 - cos(t)) = (t - sin(t)): t =
// 2.4120111439135, r = 1/(1 - cos(t)), and the time is t*sqrt(r/g).
// let: angle = 2.412011143913525
// run: simulate
// expect: report.boundary.found["T"] = angle*sqrt(1/(1 - cos(angle))/9.81) within 1e-8
// expect: time = report.boundary.found["T"] within 1e-12
// expect: x = 1 within 1e-7
// run: simulate --segments 3
// expect: report.boundary.found["T"] = angle*sqrt(1/(1 - cos(angle))/9.81) within 1e-8
// run: check
// change: time = T; -> time = x;
// expect: exit 3
// expect: says the final time must be an expression of parameters
// run: simulate
// change: pv = 0; -> /* none */
// expect: exit 4
// expect: says 3 conditions at the end for 4 free parameters or start values
model Brachistochrone
  parameter Real T(start = 1, fixed = false, min = 0.1), g = 9.81;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), v(start = 0, fixed = true), u(start = 0.5);
  Real px(start = -0.1), py(start = -0.1), pv(start = -0.1);
equation
  der(x) = v*sin(u);
  der(y) = v*cos(u);
  der(v) = g*cos(u);
  der(px) = 0;
  der(py) = 0;
  der(pv) = -px*sin(u) - py*cos(u);
  0 = px*v*cos(u) - py*v*sin(u) - pv*g*sin(u);
final equation
  time = T;
  x = 1;
  y = 1;
  pv = 0;
  1 + px*v*sin(u) + py*v*cos(u) + pv*g*cos(u) = 0;
  annotation(experiment(Tolerance = 1e-10));
end Brachistochrone;
