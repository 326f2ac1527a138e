model SampledController "a continuous process under a controller that acts every tenth of a second"
  parameter Real period = 0.1, gain = 2;
  Real x(start = 1, fixed = true);
  discrete Real u(start = 0, fixed = true);
equation
  der(x) = x + u;
  when sample(0, period) then
    u = -gain*x;
  end when;
  annotation(experiment(StopTime = 2));
end SampledController;
