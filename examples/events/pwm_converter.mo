model PwmConverter "a buck converter, switched with a fixed duty"
  parameter Real supply = 12, period = 1e-4, duty = 0.4, L = 1e-3, C = 1e-4, R = 5;
  Real i(start = 0, fixed = true), v(start = 0, fixed = true);
  discrete Real begin(start = 0, fixed = true) "of the period";
  Boolean on = time < begin + duty*period;
equation
  when sample(0, period) then
    begin = time;
  end when;
  L*der(i) = (if on then supply else 0) - v;
  C*der(v) = i - v/R;
  annotation(experiment(StopTime = 0.02));
end PwmConverter;
