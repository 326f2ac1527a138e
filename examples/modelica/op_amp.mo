package OpAmp "an integrator around an ideal operational amplifier"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  model IdealOpAmp "a nullor: no voltage and no current at the input, any output"
    Pin plus, minus, out;
  equation
    plus.v = minus.v;
    plus.i = 0;
    minus.i = 0;
  end IdealOpAmp;

  partial model OnePort
    Pin p, n;
    Real v(unit = "V") = p.v - n.v;
    Real i(unit = "A") = p.i;
  equation
    p.i = -n.i;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm") = 1000;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends OnePort;
    parameter Real C(unit = "F");
    parameter Real v0(unit = "V") = 0;
  initial equation
    v = v0;
  equation
    i = C*der(v);
  end Capacitor;

  model CosineVoltage
    extends OnePort;
    parameter Real amplitude(unit = "V");
    parameter Real omega(unit = "rad/s");
  equation
    v = amplitude*cos(omega*time);
  end CosineVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Integrator
    CosineVoltage source(amplitude = 0.5, omega = 20);
    Resistor R1(R = 1e4);
    Capacitor C1(C = 1e-5, v0 = 0);
    IdealOpAmp amplifier;
    Ground ground;
    Real v_out(unit = "V") = amplifier.out.v;
  equation
    connect(source.n, ground.p);
    connect(amplifier.plus, ground.p);
    connect(source.p, R1.p);
    connect(R1.n, amplifier.minus);
    connect(C1.p, amplifier.minus);
    connect(C1.n, amplifier.out);
    annotation(experiment(StopTime = 1, Tolerance = 1e-8));
  end Integrator;
end OpAmp;
