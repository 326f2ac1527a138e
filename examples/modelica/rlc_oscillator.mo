// A series circuit of resistor, inductor and capacitor rings after a step of the source.
connector Pin
  Real v(unit = "V");
  flow Real i(unit = "A");
end Pin;

connector PositivePin = Pin;
connector NegativePin = Pin;

partial model TwoPin
  PositivePin p;
  NegativePin n;
  Real v(unit = "V") = p.v - n.v;
end TwoPin;

partial model OnePort
  extends TwoPin;
  Real i(unit = "A") = p.i;
equation
  0 = p.i + n.i;
end OnePort;

model Conductor
  extends OnePort;
  parameter Real G(unit = "S") = 1;
equation
  i = G*v;
end Conductor;

model Resistor "a conductor that is given by its resistance"
  parameter Real R(unit = "Ohm") = 1;
  extends Conductor(final G = 1/R);
end Resistor;

model Inductor
  extends OnePort(i(start = 0, fixed = true));
  parameter Real L(unit = "H");
equation
  v = L*der(i);
end Inductor;

model Capacitor
  extends OnePort(v(start = 0, fixed = true));
  parameter Real C(unit = "F");
equation
  i = C*der(v);
end Capacitor;

model StepVoltage
  extends OnePort;
  parameter Real V(unit = "V") = 1;
  parameter Real startTime(unit = "s") = 0;
equation
  v = if time < startTime then 0 else V;
end StepVoltage;

model Ground
  Pin p(v = 0);
end Ground;

model RlcOscillator
  Resistor R1(R = 4);
  Inductor L1(L = 0.5);
  Capacitor C1(C = 0.01);
  StepVoltage source(V = 12, startTime = 0.1);
  Ground ground;
equation
  connect(source.p, R1.p);
  connect(R1.n, L1.p);
  connect(L1.n, C1.p);
  connect(C1.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 1.1, Tolerance = 1e-8));
end RlcOscillator;
