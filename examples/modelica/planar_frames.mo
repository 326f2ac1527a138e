package PlanarFrames "frames whose direction is a unit vector: a closed loop of an overdetermined connector"
  record Direction
    Real e[2] "of length 1";
    function equalityConstraint "one equation says that two unit vectors are parallel"
      input Direction a;
      input Direction b;
      output Real residue[1];
    algorithm
      residue := {a.e[1]*b.e[2] - a.e[2]*b.e[1]};
      annotation(Inline = true);
    end equalityConstraint;
  end Direction;

  connector Frame
    Real r[2](each unit = "m");
    Direction x;
    flow Real f[2](each unit = "N");
    flow Real t(unit = "N.m");
  end Frame;

  model Fixed
    Frame frame;
    parameter Real r[2](each unit = "m") = {0, 0};
  equation
    Connections.root(frame.x);
    frame.r = r;
    frame.x.e = {1, 0};
  end Fixed;

  model Revolute
    Frame a, b;
    Real phi(unit = "rad", start = 0);
    Real w(unit = "rad/s", start = 0) = der(phi);
  equation
    Connections.branch(a.x, b.x);
    b.r = a.r;
    b.x.e = {cos(phi)*a.x.e[1] - sin(phi)*a.x.e[2], sin(phi)*a.x.e[1] + cos(phi)*a.x.e[2]};
    a.f + b.f = zeros(2);
    a.t = 0;
    b.t = 0;
  end Revolute;

  model Bar
    Frame a, b;
    parameter Real l(unit = "m") = 1;
  equation
    Connections.branch(a.x, b.x);
    b.r = a.r + l*a.x.e;
    b.x.e = a.x.e;
    a.f + b.f = zeros(2);
    a.t + b.t + l*(a.x.e[1]*b.f[2] - a.x.e[2]*b.f[1]) = 0;
  end Bar;

  model Mass "a point mass, with gravity"
    Frame frame;
    parameter Real m(unit = "kg") = 1;
    constant Real g(unit = "m/s2") = 9.81;
    Real v[2](each unit = "m/s") = der(frame.r);
  equation
    m*(der(v) + {0, g}) = frame.f;
    frame.t = 0;
  end Mass;

  model Parallelogram "the coupler moves without turning, as a simple pendulum"
    Fixed ground;
    Bar base(l = 1.2), left(l = 0.5), right(l = 0.5), coupler(l = 1.2);
    Revolute leftJoint(phi(start = -0.5, fixed = true), w(fixed = true));
    Revolute rightJoint(phi(start = -0.5));
    Revolute elbow1(phi(start = 0.5)), elbow2(phi(start = -0.5));
    Mass mass(m = 2);
    Real energy(unit = "J") = mass.m*(mass.v*mass.v/2 + mass.g*mass.frame.r[2]);
  equation
    connect(ground.frame, leftJoint.a);
    connect(leftJoint.b, left.a);
    connect(left.b, elbow1.a);
    connect(elbow1.b, coupler.a);
    connect(coupler.b, elbow2.a);
    connect(elbow2.b, right.b) "closes the loop";
    connect(ground.frame, base.a);
    connect(base.b, rightJoint.a);
    connect(rightJoint.b, right.a);
    connect(mass.frame, coupler.b);
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end Parallelogram;
end PlanarFrames;
