package BouncingBall "contact as a component: balls of an array, each with its own floor"
  model World
    parameter Real g(unit = "m/s2") = 9.81;
  end World;

  connector Point "what is seen of a ball"
    Real h(unit = "m");
    Real v(unit = "m/s");
  end Point;

  connector PointInput = input Point;
  connector PointOutput = output Point;

  model Ball
    outer World world;
    PointOutput point;
    parameter Real e = 0.8 "coefficient of restitution";
    parameter Real h0(unit = "m") = 1;
    Real h(unit = "m", start = h0, fixed = true);
    Real v(unit = "m/s", start = 0, fixed = true);
    Integer bounces(start = 0, fixed = true);
  equation
    der(h) = v;
    der(v) = -world.g;
    point.h = h;
    point.v = v;
    when h < 0 then
      reinit(v, -e*pre(v));
      bounces = pre(bounces) + 1;
    end when;
  end Ball;

  model Highest "watches its balls"
    parameter Integer n;
    PointInput point[n];
    Real top(unit = "m") = max(point.h);
  end Highest;

  model Court
    inner World world(g = 10);
    Ball ball[3](h0 = {5, 1.25, 0.8}, each e = 0.8);
    Highest watch(n = 3);
  equation
    connect(ball.point, watch.point);
    annotation(experiment(StopTime = 1.1, Tolerance = 1e-9));
  end Court;
end BouncingBall;
