package DcMotor "an electrical and a rotational domain, joined by an ideal machine"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  connector Flange
    Real phi(unit = "rad");
    flow Real tau(unit = "N.m");
  end Flange;

  partial model OnePort
    Pin p, n;
    Real v(unit = "V");
    Real i(unit = "A");
  equation
    v = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm");
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends OnePort(i(start = 0, fixed = true));
    parameter Real L(unit = "H");
  equation
    v = L*der(i);
  end Inductor;

  model Emf "electromotive force: the machine without losses"
    extends OnePort;
    parameter Real k(unit = "N.m/A");
    Flange flange;
    Real w(unit = "rad/s");
  equation
    w = der(flange.phi);
    v = k*w;
    flange.tau = -k*i;
  end Emf;

  model ConstantVoltage
    extends OnePort;
    parameter Real V(unit = "V");
  equation
    v = V;
  end ConstantVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Inertia
    Flange a, b;
    parameter Real J(unit = "kg.m2");
    Real phi(unit = "rad", start = 0, fixed = true);
    Real w(unit = "rad/s", start = 0, fixed = true);
  equation
    a.phi = phi;
    b.phi = phi;
    w = der(phi);
    J*der(w) = a.tau + b.tau;
  end Inertia;

  model Damper "friction against the ground"
    Flange a;
    parameter Real d(unit = "N.m.s/rad");
  equation
    a.tau = d*der(a.phi);
  end Damper;

  model Motor "a component with pins and a flange of its own"
    Pin p, n;
    Flange flange;
    Resistor resistor(R = 0.5);
    Inductor inductor(L = 0.05);
    Emf emf(k = 1);
    Inertia rotor(J = 0.1);
  equation
    connect(p, resistor.p);
    connect(resistor.n, inductor.p);
    connect(inductor.n, emf.p);
    connect(emf.n, n);
    connect(emf.flange, rotor.a);
    connect(rotor.b, flange);
  end Motor;

  model Drive
    ConstantVoltage battery(V = 24);
    Ground ground;
    Motor motor;
    Damper load(d = 0.2);
  equation
    connect(battery.p, motor.p);
    connect(battery.n, motor.n);
    connect(battery.n, ground.p);
    connect(motor.flange, load.a);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end Drive;
end DcMotor;
