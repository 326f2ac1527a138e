package PiLoop "a PI controller around a first-order plant"
  connector RealInput = input Real "a signal comes in";
  connector RealOutput = output Real "a signal goes out";

  partial block SISO "one input, one output"
    RealInput u;
    RealOutput y;
  end SISO;

  block Step
    RealOutput y;
    parameter Real height = 1, startTime(unit = "s") = 0;
  equation
    y = if time < startTime then 0 else height;
  end Step;

  block Feedback
    RealInput u1, u2;
    RealOutput y;
  equation
    y = u1 - u2;
  end Feedback;

  block PI
    extends SISO;
    parameter Real k = 1 "gain";
    parameter Real T(unit = "s") = 1 "time constant of the integrator";
    Real x(start = 0, fixed = true);
  equation
    der(x) = u/T;
    y = k*(x + u);
  end PI;

  block FirstOrder
    extends SISO(y(start = 0, fixed = true));
    parameter Real k = 1;
    parameter Real T(unit = "s") = 1;
  equation
    T*der(y) = k*u - y;
  end FirstOrder;

  model Loop
    Step step(startTime = 0.5);
    Feedback feedback;
    PI controller(k = 4, T = 0.5);
    FirstOrder plant(k = 2, T = 1);
  equation
    connect(step.y, feedback.u1);
    connect(feedback.y, controller.u);
    connect(controller.y, plant.u);
    connect(plant.y, feedback.u2);
    annotation(experiment(StopTime = 3, Tolerance = 1e-8));
  end Loop;
end PiLoop;
