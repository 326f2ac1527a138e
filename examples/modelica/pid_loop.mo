package PidLoop "a PID controller, made of three blocks, holds a mass in place"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  partial block SISO
    RealInput u;
    RealOutput y;
  end SISO;

  block Gain
    extends SISO;
    parameter Real k;
  equation
    y = k*u;
  end Gain;

  block Integrator
    extends SISO(y(start = 0, fixed = true));
    parameter Real k = 1;
  equation
    der(y) = k*u;
  end Integrator;

  block Derivative "approximate, with the filter time T"
    extends SISO;
    parameter Real k = 1, T = 0.01;
  protected
    Real x(start = 0, fixed = true);
  equation
    der(x) = (u - x)/T;
    y = k*(u - x)/T;
  end Derivative;

  block Sum
    parameter Integer n = 2;
    RealInput u[n];
    RealOutput y;
    parameter Real k[n] = ones(n);
  equation
    y = k*u;
  end Sum;

  block PID
    extends SISO;
    parameter Real kp = 1, ki = 1, kd = 1;
    Gain P(k = kp);
    Integrator I(k = ki);
    Derivative D(k = kd, T = 0.05);
    Sum sum(n = 3);
  equation
    connect(u, P.u);
    connect(u, I.u);
    connect(u, D.u);
    connect(P.y, sum.u[1]);
    connect(I.y, sum.u[2]);
    connect(D.y, sum.u[3]);
    connect(sum.y, y);
  end PID;

  model Loop
    PID controller(kp = 30, ki = 20, kd = 8);
    Sum error(k = {1, -1});
    Sum force(k = {1, 1});
    Integrator velocity, position;
    output Real s = position.y;
  equation
    error.u[1] = 1;
    connect(position.y, error.u[2]);
    connect(error.y, controller.u);
    connect(controller.y, force.u[1]);
    force.u[2] = -5 "a load";
    connect(force.y, velocity.u);
    connect(velocity.y, position.u);
    annotation(experiment(StopTime = 4, Tolerance = 1e-8));
  end Loop;
end PidLoop;
