model RcCircuit "a resistor charges a capacitor from a sinusoidal source: index 1, one degree of freedom"
  parameter Real pi = 3.141592653589793;
  parameter Real R(unit = "Ohm") = 1000 "resistance";
  parameter Real C(unit = "F") = 1e-6 "capacitance";
  parameter Real U(unit = "V") = 10 "amplitude of the source";
  parameter Real f(unit = "Hz") = 50 "frequency of the source";
  Real u(unit = "V") "voltage of the source";
  Real uR(unit = "V") "voltage over the resistor";
  Real uC(unit = "V", start = 0, fixed = true) "voltage over the capacitor";
  Real i(unit = "A", nominal = 0.01) "current";
equation
  u = U*sin(2*pi*f*time);
  u = uR + uC;
  uR = R*i;
  C*der(uC) = i;
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-7));
end RcCircuit;
