package PlanarSliderCrank "bars, revolute and prismatic joints in the plane: a closed loop"
  connector Frame
    Real r[2](each unit = "m");
    Real phi(unit = "rad");
    flow Real f[2](each unit = "N");
    flow Real t(unit = "N.m");
  end Frame;

  function rotate
    input Real v[2];
    input Real phi;
    output Real w[2];
  algorithm
    w := {cos(phi)*v[1] - sin(phi)*v[2], sin(phi)*v[1] + cos(phi)*v[2]};
    annotation(Inline = true);
  end rotate;

  model Fixed
    Frame frame;
    parameter Real r[2](each unit = "m") = {0, 0};
  equation
    frame.r = r;
    frame.phi = 0;
  end Fixed;

  model Bar "rigid, without mass"
    Frame a, b;
    parameter Real l(unit = "m") = 1;
    Real d[2](each unit = "m") = rotate({l, 0}, a.phi);
  equation
    b.r = a.r + d;
    b.phi = a.phi;
    a.f + b.f = {0, 0};
    a.t + b.t + d[1]*b.f[2] - d[2]*b.f[1] = 0;
  end Bar;

  model Body "a point mass with inertia"
    Frame frame;
    parameter Real m(unit = "kg") = 1;
    parameter Real I(unit = "kg.m2") = 0;
    Real v[2](each unit = "m/s") = der(frame.r);
    Real w(unit = "rad/s") = der(frame.phi);
  equation
    m*der(v) = frame.f;
    I*der(w) = frame.t;
  end Body;

  model Revolute
    Frame a, b;
    Real phi(unit = "rad", start = 0) "angle from a to b";
    Real w(unit = "rad/s", start = 0) = der(phi);
  equation
    a.r = b.r;
    phi = b.phi - a.phi;
    a.f + b.f = {0, 0};
    b.t = 0;
    a.t = 0;
  end Revolute;

  model Prismatic "along the x axis of frame a"
    Frame a, b;
    Real s(unit = "m", start = 0);
  equation
    b.r = a.r + rotate({s, 0}, a.phi);
    b.phi = a.phi;
    a.f + b.f = {0, 0};
    rotate(b.f, -a.phi)*{1, 0} = 0;
    a.t + b.t + (b.r[1] - a.r[1])*b.f[2] - (b.r[2] - a.r[2])*b.f[1] = 0;
  end Prismatic;

  model SliderCrank
    Fixed ground;
    Revolute crankJoint(phi(start = 0.5, fixed = true), w(start = 4, fixed = true));
    Bar crank(l = 0.3);
    Body crankBody(m = 0.5, I = 0.02);
    Revolute rodJoint(phi(start = -0.7));
    Bar rod(l = 0.8);
    Revolute sliderJoint;
    Prismatic slider(s(start = 1));
    Body piston(m = 2, I = 0.01);
    Real energy(unit = "J");
  equation
    connect(ground.frame, crankJoint.a);
    connect(crankJoint.b, crank.a);
    connect(crank.b, crankBody.frame);
    connect(crank.b, rodJoint.a);
    connect(rodJoint.b, rod.a);
    connect(rod.b, sliderJoint.a);
    connect(sliderJoint.b, slider.b);
    connect(slider.a, ground.frame);
    connect(slider.b, piston.frame);
    energy = (crankBody.m*(crankBody.v*crankBody.v) + crankBody.I*crankBody.w^2 + piston.m*(piston.v*piston.v))/2;
    annotation(experiment(StopTime = 2, Tolerance = 1e-8));
  end SliderCrank;
end PlanarSliderCrank;
