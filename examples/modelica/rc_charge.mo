package RcCharge "a capacitor is charged through a resistor"
  type Voltage = Real(unit = "V");
  type Current = Real(unit = "A");

  connector Pin
    Voltage v "potential";
    flow Current i "current into the component";
  end Pin;

  partial model OnePort "two pins, one current"
    Pin p;
    Pin n;
    Voltage v "voltage from p to n";
    Current i "current from p to n";
  equation
    v = p.v - n.v;
    p.i + n.i = 0;
    i = p.i;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm", min = 0) = 1;
  equation
    v = R*i;
  end Resistor;

  model Capacitor
    extends OnePort(v(fixed = true, start = 0));
    parameter Real C(unit = "F") = 1;
  equation
    C*der(v) = i;
  end Capacitor;

  model ConstantVoltage
    extends OnePort;
    parameter Voltage V = 1;
  equation
    v = V;
  end ConstantVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Circuit
    ConstantVoltage source(V = 10);
    Resistor resistor(R = 2e3);
    Capacitor capacitor(C = 5e-4);
    Ground ground;
  equation
    connect(source.p, resistor.p);
    connect(resistor.n, capacitor.p);
    connect(capacitor.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 3));
  end Circuit;
end RcCharge;
