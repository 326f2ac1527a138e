model StickSlip "a block on a belt, held by a spring: it sticks until the spring tears it off, then slides"
  parameter Real m = 1, k = 10, belt = 0.5, F_static = 4, F_slide = 2;
  Real x(start = 0, fixed = true), v(start = 0.5, fixed = true), friction;
  Boolean sticks(start = true, fixed = true);
equation
  der(x) = v;
  m*der(v) = friction - k*x;
  0 = if sticks then der(v) else friction - F_slide;
  when friction > F_static then
    sticks = false;
  elsewhen v > belt then
    sticks = true;
  end when;
  annotation(experiment(StopTime = 5));
end StickSlip;
