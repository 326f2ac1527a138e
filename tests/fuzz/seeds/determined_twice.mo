model DiscretizedFilter "a filter written as differential equations, computed in steps of a clock"
  parameter Real f = 2 "corner frequency";
  parameter Real omega = 2*Modelica.Constants.pi*f;
  Real x(start = 0), v(start = 0), y;
  Real u;
equation
  der(x) = v;
  der(v) = omega^1e8*(u - x) - 1.4*omega*v;
  u = sample(if time < 0.25 then 1 else -0.5, Clock(Clock(1, 100), solverMethod = "ImplicitTrapezoid"));
  (noEvent(if time > 0.5 then max(time, time) else homotopy(0, time))) = hold(x);
  annotation(experiment(StopTime = 1));
end DiscretizedFilter;
