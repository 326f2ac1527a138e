// A Boolean variable that is only a relation is replaced by it: the thermostat slides along the edge like one that contains the relation itself.
// run: simulate --stop-time 0.5
// run: simulate --stop-time 0.5 --solver radau
// run: simulate --stop-time 0.5 --solver ida
// expect: T = 295 within 1e-4
// expect: Q = 20 within 1e-3
model ThermostatWithoutHysteresis
  Boolean heat;
  Real T(start = 300, fixed = true), Q;
equation
  heat = T < 295;
  Q = if heat then 25 else 0;
  der(T) = Q - 2*(T - 285);
end ThermostatWithoutHysteresis;
