model MultirateCascade "position by a slow P controller, speed by a PI controller that is five times as fast"
  parameter Real J = 0.1 "inertia", position = 4 "gain of the position loop", speed = 2 "gain of the speed loop", T = 0.05;
  Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
  Real torque;
  Clock fast = Clock(1, 100);
  Real reference "of the speed, on the slow clock";
  Real error, x(start = 0), u "on the fast clock";
equation
  der(phi) = w;
  J*der(w) = torque;
  reference = position*(1 - subSample(sample(phi, fast), 5));
  error = superSample(reference, 5) - sample(w, fast);
  x = previous(x) + error*interval(x)/T;
  u = speed*(error + 0.1*x);
  torque = hold(u);
  annotation(experiment(StopTime = 1.5));
end MultirateCascade;
