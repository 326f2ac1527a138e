package GearTrain "inertias after two gears: the angles are tied, so the index is 3"
  connector Flange
    Real phi(unit = "rad") "angle";
    flow Real tau(unit = "N.m") "torque into the component";
  end Flange;

  partial model TwoFlanges
    Flange a "driving side";
    Flange b "driven side";
  end TwoFlanges;

  model Inertia
    extends TwoFlanges;
    parameter Real J(unit = "kg.m2") = 1;
    parameter StateSelect stateSelect = StateSelect.default;
    Real phi(unit = "rad", stateSelect = stateSelect) = a.phi;
    Real w(unit = "rad/s", stateSelect = stateSelect) = der(phi);
  equation
    a.phi = b.phi;
    J*der(w) = a.tau + b.tau;
  end Inertia;

  model Gear
    extends TwoFlanges;
    parameter Real ratio = 1 "turns of a for one of b";
  equation
    a.phi = ratio*b.phi;
    0 = ratio*a.tau + b.tau;
  end Gear;

  model Torque
    Flange flange;
    parameter Real tau0(unit = "N.m") = 1;
  equation
    flange.tau = -tau0;
  end Torque;

  model Train
    Torque motor(tau0 = 2);
    Inertia shaft1(J = 0.1);
    Gear gear1(ratio = 3);
    Inertia shaft2(J = 0.5);
    Gear gear2(ratio = 4);
    Inertia shaft3(J = 20, stateSelect = StateSelect.prefer, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  equation
    connect(motor.flange, shaft1.a);
    connect(shaft1.b, gear1.a);
    connect(gear1.b, shaft2.a);
    connect(shaft2.b, gear2.a);
    connect(gear2.b, shaft3.a);
    annotation(experiment(StopTime = 2));
  end Train;
end GearTrain;
