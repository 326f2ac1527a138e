package HeatExchanger "two streams in counterflow, in cells with a wall between"
  connector HeatPort
    Real T(unit = "K");
    flow Real Q_flow(unit = "W");
  end HeatPort;

  connector TemperatureIn = input Real(unit = "K");
  connector TemperatureOut = output Real(unit = "K");

  model Cell "a stirred volume with constant flow"
    TemperatureIn T_in;
    TemperatureOut T_out;
    HeatPort wall;
    parameter Real mcp(unit = "W/K") "heat capacity flow";
    parameter Real C(unit = "J/K") = 10;
    Real T(unit = "K", start = 300, fixed = true);
  equation
    C*der(T) = mcp*(T_in - T) + wall.Q_flow;
    wall.T = T;
    T_out = T;
  end Cell;

  model Wall
    HeatPort a, b;
    parameter Real G(unit = "W/K");
  equation
    a.Q_flow = G*(a.T - b.T);
    a.Q_flow + b.Q_flow = 0;
  end Wall;

  model Channel "cells in a row"
    parameter Integer n;
    parameter Real mcp(unit = "W/K");
    TemperatureIn T_in;
    TemperatureOut T_out;
    HeatPort wall[n];
    Cell cell[n](each mcp = mcp);
  equation
    connect(T_in, cell[1].T_in);
    connect(cell[1:n - 1].T_out, cell[2:n].T_in);
    connect(cell[n].T_out, T_out);
    connect(cell.wall, wall);
  end Channel;

  block Constant
    TemperatureOut y;
    parameter Real k(unit = "K");
  equation
    y = k;
  end Constant;

  model Counterflow
    parameter Integer n = 30;
    parameter Real UA(unit = "W/K") = 60;
    Channel hot(n = n, mcp = 40);
    Channel cold(n = n, mcp = 30);
    Wall wall[n](each G = UA/n);
    Constant hotSource(k = 370), coldSource(k = 290);
    Real balance(unit = "W") = hot.mcp*(hot.T_in - hot.T_out) + cold.mcp*(cold.T_in - cold.T_out);
  equation
    connect(hotSource.y, hot.T_in);
    connect(coldSource.y, cold.T_in);
    connect(hot.wall, wall.a);
    for i in 1:n loop
      connect(cold.wall[n + 1 - i], wall[i].b);
    end for;
    annotation(experiment(StopTime = 500));
  end Counterflow;
end HeatExchanger;
