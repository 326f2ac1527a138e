model Rectifier "an ideal diode charges a capacitor through a resistor"
  parameter Real R = 10, C = 1e-3, load = 100, amplitude = 10, frequency = 50;
  Real u, v(start = 0, fixed = true), i, s "parameter of the diode's curve";
  Boolean off = s < 0;
equation
  u = amplitude*sin(2*3.141592653589793*frequency*time);
  i = if off then 0 else s;
  u - R*i - v = if off then s else 0;
  C*der(v) = i - v/load;
  annotation(experiment(StopTime = 0.1));
end Rectifier;
