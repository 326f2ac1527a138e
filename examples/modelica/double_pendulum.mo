package DoublePendulum "a chain of planar links: an array of components that extend one class"
  connector Frame
    Real x(unit = "m"), y(unit = "m");
    Real phi(unit = "rad");
    flow Real fx(unit = "N"), fy(unit = "N");
    flow Real t(unit = "N.m");
  end Frame;

  model World
    parameter Real g(unit = "m/s2") = 9.81;
    Frame frame;
  equation
    frame.x = 0;
    frame.y = 0;
    frame.phi = 0;
  end World;

  partial model Link
    outer World world;
    Frame a, b;
    parameter Real l(unit = "m") = 1;
    parameter Real m(unit = "kg") = 1;
    Real energy(unit = "J");
  end Link;

  model Pendulum "a joint at a, a bar without mass, a point mass at b"
    extends Link;
    Real phi(unit = "rad", start = 0, fixed = true) "from the vertical";
    Real w(unit = "rad/s", start = 0, fixed = true);
  protected
    Real vx(unit = "m/s"), vy(unit = "m/s");
  equation
    b.phi = phi;
    w = der(phi);
    b.x = a.x + l*sin(phi);
    b.y = a.y - l*cos(phi);
    vx = der(b.x);
    vy = der(b.y);
    m*der(vx) = a.fx + b.fx;
    m*der(vy) = a.fy + b.fy - m*world.g;
    a.t = 0;
    b.t = (b.x - a.x)*a.fy - (b.y - a.y)*a.fx;
    energy = m*(vx^2 + vy^2)/2 + m*world.g*b.y;
  end Pendulum;

  model Chain
    inner World world;
    parameter Integer n = 2;
    Pendulum link[n](phi(start = {2, 2.5}), l = {1, 0.7}, m = {2, 1});
    Real energy(unit = "J") = sum(link.energy);
  equation
    connect(world.frame, link[1].a);
    for i in 2:n loop
      connect(link[i - 1].b, link[i].a);
    end for;
    annotation(experiment(StopTime = 3, Tolerance = 1e-9));
  end Chain;
end DoublePendulum;
