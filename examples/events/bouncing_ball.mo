model BouncingBall "a ball falls, and bounces with a part of its speed"
  parameter Real g = 9.81 "gravity";
  parameter Real e = 0.8 "coefficient of restitution";
  Real h(start = 1, fixed = true) "height";
  Real v(start = 0, fixed = true) "speed";
  Integer bounces(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
  annotation(experiment(StopTime = 3));
end BouncingBall;
