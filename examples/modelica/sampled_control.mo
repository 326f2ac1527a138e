package SampledControl "a digital controller on a continuous plant"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  partial block Sampled "a block with a clock"
    RealInput u;
    RealOutput y;
    parameter Real period(unit = "s") = 0.1;
  protected
    Boolean tick;
  equation
    tick = sample(0, period);
  end Sampled;

  block DiscretePI
    extends Sampled;
    parameter Real k = 1, Ti(unit = "s") = 1;
  protected
    discrete Real x(start = 0, fixed = true);
  equation
    when tick then
      x = pre(x) + period/Ti*u;
      y = k*(x + u);
    end when;
  end DiscretePI;

  block Plant
    RealInput u;
    RealOutput y(start = 0, fixed = true);
    parameter Real T(unit = "s") = 0.5;
  equation
    T*der(y) = u - y;
  end Plant;

  model Loop
    parameter Real reference = 1;
    DiscretePI controller(k = 0.8, Ti = 0.4, period = 0.05);
    Plant plant;
  equation
    controller.u = reference - plant.y;
    connect(controller.y, plant.u);
    annotation(experiment(StopTime = 1.02, Tolerance = 1e-9));
  end Loop;
end SampledControl;
