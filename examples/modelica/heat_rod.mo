package HeatRod "a rod between cold ends, cut in slices: arrays of components"
  connector HeatPort
    Real T(unit = "K");
    flow Real Q_flow(unit = "W");
  end HeatPort;

  model HeatCapacitor
    HeatPort port;
    parameter Real C(unit = "J/K") = 1;
    Real T(unit = "K", start = 300, fixed = true);
  equation
    T = port.T;
    C*der(T) = port.Q_flow;
  end HeatCapacitor;

  model ThermalConductor
    HeatPort a, b;
    parameter Real G(unit = "W/K") = 1;
  equation
    a.Q_flow = G*(a.T - b.T);
    a.Q_flow + b.Q_flow = 0;
  end ThermalConductor;

  model FixedTemperature
    HeatPort port;
    parameter Real T(unit = "K") = 300;
  equation
    port.T = T;
  end FixedTemperature;

  model Rod
    parameter Integer n = 20;
    parameter Real T0(unit = "K") = 300;
    parameter Real A(unit = "K") = 50 "amplitude of the first mode";
    final parameter Real x[n] = {i/(n + 1) for i in 1:n};
    HeatCapacitor slice[n](each C = 2, T(start = {T0 + A*sin(Modelica.Constants.pi*x[i]) for i in 1:n}));
    ThermalConductor contact[n + 1](each G = 40);
    FixedTemperature ends[2](each T = T0);
  equation
    connect(ends[1].port, contact[1].a);
    connect(contact[1:n].b, slice.port);
    connect(slice.port, contact[2:n + 1].a);
    connect(contact[n + 1].b, ends[2].port);
    annotation(experiment(StopTime = 5, Tolerance = 1e-8));
  end Rod;
end HeatRod;
