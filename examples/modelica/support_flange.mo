package SupportFlange "a motor whose housing stands on the ground, or on a flange that exists only in that case"
  connector Flange
    Real phi(unit = "rad");
    flow Real tau(unit = "N.m");
  end Flange;

  model Fixed
    Flange flange;
  equation
    flange.phi = 0;
  end Fixed;

  model Inertia
    Flange flange;
    parameter Real J(unit = "kg.m2") = 1;
    Real w(unit = "rad/s", start = 0, fixed = true);
  equation
    w = der(flange.phi);
    J*der(w) = flange.tau;
  end Inertia;

  model Housing "the inner side of a support"
    Flange flange;
    input Real tau(unit = "N.m");
  equation
    flange.tau = tau;
  end Housing;

  model Motor
    parameter Boolean useSupport = false;
    parameter Real torque(unit = "N.m") = 1;
    Flange flange;
    Flange support if useSupport;
  protected
    Housing housing(tau = -flange.tau);
    Fixed ground if not useSupport;
  equation
    flange.tau = -torque;
    connect(housing.flange, support);
    connect(housing.flange, ground.flange);
  end Motor;

  model Test
    Motor onGround(torque = 3);
    Motor floating(useSupport = true, torque = 3);
    Inertia rotor1(J = 2), rotor2(J = 2), frame(J = 10);
  equation
    connect(onGround.flange, rotor1.flange);
    connect(floating.flange, rotor2.flange);
    connect(floating.support, frame.flange);
    annotation(experiment(StopTime = 2));
  end Test;
end SupportFlange;
