package Clutch "a disc clutch brings two inertias to one speed: they slip, then stick"
  connector Flange
    Real phi(unit = "rad");
    flow Real tau(unit = "N.m");
  end Flange;

  model Inertia
    Flange a, b;
    parameter Real J(unit = "kg.m2");
    parameter Real w0(unit = "rad/s") = 0;
    Real w(unit = "rad/s", start = w0, fixed = true);
    Real phi(unit = "rad", start = 0, fixed = true);
  equation
    phi = a.phi;
    phi = b.phi;
    der(phi) = w;
    J*der(w) = a.tau + b.tau;
  end Inertia;

  model DiscClutch "Coulomb friction of a constant torque; once at rest it holds"
    Flange a, b;
    parameter Real tau_max(unit = "N.m");
    Real w_rel(unit = "rad/s");
    Real tau(unit = "N.m");
    Boolean locked(start = false, fixed = true);
  equation
    w_rel = der(a.phi) - der(b.phi);
    a.tau = tau;
    b.tau = -tau;
    when w_rel <= 0 then
      locked = true;
    end when;
    0 = if locked then der(w_rel) else tau - tau_max;
  end DiscClutch;

  model Launch
    Inertia engine(J = 0.2, w0 = 100);
    Inertia vehicle(J = 0.6);
    DiscClutch clutch(tau_max = 15);
    Real momentum(unit = "N.m.s") = engine.J*engine.w + vehicle.J*vehicle.w;
  equation
    connect(engine.b, clutch.a);
    connect(clutch.b, vehicle.a);
    annotation(experiment(StopTime = 2));
  end Launch;
end Clutch;
