model StringPendulum "a mass on a string that is slack, then taut: index 1, then index 3"
  parameter Real L = 1, g = 9.81;
  Real x(start = 0.5, fixed = true), y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true), vy(start = 0, fixed = true), tension;
  Boolean taut(start = false, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -tension*x;
  der(vy) = -tension*y - g;
  0 = if taut then x^2 + y^2 - L^2 else tension;
  when x^2 + y^2 >= L^2 then
    taut = true;
  elsewhen tension < 0 then
    taut = false;
  end when;
  annotation(experiment(StopTime = 3));
end StringPendulum;
