package Wheatstone "a bridge of resistors with a temperature probe: an algebraic loop through components"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  partial model OnePort
    Pin p;
    Pin n;
  protected
    Real v(unit = "V") = p.v - n.v;
    Real i(unit = "A") = p.i;
  equation
    p.i + n.i = 0;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm");
  equation
    v = R*i;
  end Resistor;

  model Probe "a platinum resistor"
    extends OnePort;
    parameter Real R0(unit = "Ohm") = 100 "at 0 degC";
    parameter Real alpha(unit = "1/K") = 3.9e-3;
    input Real T(unit = "degC");
  equation
    v = R0*(1 + alpha*T)*i;
  end Probe;

  model Battery
    extends OnePort;
    parameter Real V(unit = "V") = 5;
    parameter Real Ri(unit = "Ohm") = 0.5;
  equation
    v = V + Ri*i;
  end Battery;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Bridge
    Battery battery;
    Resistor r1(R = 100), r2(R = 100), r3(R = 100), meter(R = 1000);
    Probe probe(T = 20 + 10*time);
    Ground ground;
    Real v_meter(unit = "V") = meter.p.v - meter.n.v;
  equation
    connect(battery.p, r1.p);
    connect(battery.p, r3.p);
    connect(r1.n, r2.p);
    connect(r3.n, probe.p);
    connect(r2.n, battery.n);
    connect(probe.n, battery.n);
    connect(meter.p, r3.n);
    connect(meter.n, r1.n);
    connect(ground.p, battery.n);
    annotation(experiment(StopTime = 4));
  end Bridge;
end Wheatstone;
