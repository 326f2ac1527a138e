package Rectifier "four ideal diodes, a resistive load"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

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

  model IdealDiode "a line in the plane of voltage and current, with the parameter s along it"
    extends OnePort;
    parameter Real Ron(unit = "Ohm") = 1e-5;
    parameter Real Goff(unit = "S") = 1e-5;
    Boolean off(start = true) = s < 0;
  protected
    Real s(start = 0);
    constant Real unitVoltage(unit = "V") = 1;
    constant Real unitCurrent(unit = "A") = 1;
  equation
    v = s*unitCurrent*(if off then 1 else Ron);
    i = s*unitVoltage*(if off then Goff else 1);
  end IdealDiode;

  model SineVoltage
    extends OnePort;
    parameter Real V(unit = "V");
    parameter Real f(unit = "Hz");
  equation
    v = V*sin(2*Modelica.Constants.pi*f*time);
  end SineVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Bridge
    SineVoltage source(V = 20, f = 50);
    IdealDiode diode[4];
    Resistor load(R = 100);
    Ground ground;
  equation
    connect(source.p, diode[1].p);
    connect(diode[1].n, load.p);
    connect(source.n, diode[2].p);
    connect(diode[2].n, load.p);
    connect(diode[3].n, source.p);
    connect(diode[3].p, load.n);
    connect(diode[4].n, source.n);
    connect(diode[4].p, load.n);
    connect(ground.p, load.n);
    annotation(experiment(StopTime = 0.04));
  end Bridge;
end Rectifier;
