package SpatialFrames "frames in space, with a rotation matrix of nine entries: an overdetermined connector"
  record Orientation
    Real R[3, 3] "turns a vector of the world into one of the frame";
    function equalityConstraint "three equations say that two frames are parallel"
      input Orientation a, b;
      output Real residue[3];
    algorithm
      residue := {cross(a.R[1, :], a.R[2, :])*b.R[2, :], -cross(a.R[1, :], a.R[2, :])*b.R[1, :], a.R[2, :]*b.R[1, :]};
      annotation(Inline = true);
    end equalityConstraint;
  end Orientation;

  connector Frame
    Real r[3](each unit = "m");
    Orientation Q;
    flow Real f[3](each unit = "N") "in the frame's own axes";
    flow Real t[3](each unit = "N.m");
  end Frame;

  model World
    Frame frame;
  equation
    Connections.root(frame.Q);
    frame.r = zeros(3);
    frame.Q.R = identity(3);
  end World;

  model Revolute "about the z axis of frame a"
    Frame a, b;
    Real phi(unit = "rad", start = 0);
    Real w(unit = "rad/s", start = 0) = der(phi);
  protected
    Real S[3, 3] = [cos(phi), sin(phi), 0; -sin(phi), cos(phi), 0; 0, 0, 1];
  equation
    Connections.branch(a.Q, b.Q);
    b.r = a.r;
    b.Q.R = S*a.Q.R;
    a.f = -transpose(S)*b.f;
    a.t = -transpose(S)*b.t;
    b.t[3] = 0;
  end Revolute;

  model Bar
    Frame a, b;
    parameter Real d[3](each unit = "m") = {1, 0, 0};
  equation
    Connections.branch(a.Q, b.Q);
    b.r = a.r + transpose(a.Q.R)*d;
    b.Q.R = a.Q.R;
    a.f + b.f = zeros(3);
    a.t + b.t + cross(d, b.f) = zeros(3);
  end Bar;

  model Mass "a point mass, with gravity along -y"
    Frame frame;
    parameter Real m(unit = "kg") = 1;
    constant Real g(unit = "m/s2") = 9.81;
    Real v[3](each unit = "m/s") = der(frame.r);
  equation
    m*(der(v) + {0, g, 0}) = transpose(frame.Q.R)*frame.f;
    frame.t = zeros(3);
  end Mass;

  model Turn "by a right angle, about the x axis"
    Frame a, b;
    parameter Integer direction = 1;
  protected
    parameter Real S[3, 3] = [1, 0, 0; 0, 0, direction; 0, -direction, 0];
  equation
    Connections.branch(a.Q, b.Q);
    b.r = a.r;
    b.Q.R = S*a.Q.R;
    a.f = -transpose(S)*b.f;
    a.t = -transpose(S)*b.t;
  end Turn;

  model SphericalPendulum "swings about a vertical and a horizontal axis"
    World world;
    Turn up(direction = -1), down;
    Revolute azimuth(phi(fixed = true), w(start = 2, fixed = true));
    Revolute elevation(phi(start = -0.6, fixed = true), w(fixed = true));
    Bar bar(d = {0.8, 0, 0});
    Mass mass(m = 2);
    Real energy(unit = "J") = mass.m*(mass.v*mass.v/2 + mass.g*mass.frame.r[2]);
    Real momentum = mass.m*(mass.frame.r[3]*mass.v[1] - mass.frame.r[1]*mass.v[3]) "about the vertical";
  equation
    connect(world.frame, up.a);
    connect(up.b, azimuth.a);
    connect(azimuth.b, down.a);
    connect(down.b, elevation.a);
    connect(elevation.b, bar.a);
    connect(bar.b, mass.frame);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end SphericalPendulum;
end SpatialFrames;
