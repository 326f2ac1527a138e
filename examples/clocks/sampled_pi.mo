model SampledPI "a drive whose speed a PI controller keeps, sampled every fiftieth of a second"
  parameter Real J = 0.5 "inertia", d = 0.2 "friction", k = 3 "gain", T = 0.4 "integral time";
  Real w(start = 0, fixed = true) "speed of the drive";
  Real torque;
  Real error, x(start = 0) "integral of the error", u;
equation
  J*der(w) = torque - d*w;
  torque = hold(u);
  error = 1 - sample(w, Clock(1, 50));
  x = previous(x) + error*interval(x)/T;
  u = k*(error + x);
  annotation(experiment(StopTime = 2));
end SampledPI;
