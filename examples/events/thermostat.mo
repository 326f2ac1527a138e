model Thermostat "a heater with hysteresis"
  parameter Real T_on = 19, T_off = 21, T_outside = 5, T_heater = 45, rate = 0.1;
  Real T(start = 15, fixed = true);
  Boolean heats(start = true, fixed = true);
equation
  heats = T < T_on or (pre(heats) and T < T_off);
  der(T) = rate*((if heats then T_heater else T_outside) - T);
  annotation(experiment(StopTime = 30));
end Thermostat;
