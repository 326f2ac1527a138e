package House "a heated room in ambient air; every wall refers to the air by inner and outer"
  connector HeatPort
    Real T(unit = "K");
    flow Real Q_flow(unit = "W");
  end HeatPort;

  model Ambient
    parameter Real T0(unit = "K") = 273.15;
    HeatPort port;
  equation
    port.T = T0;
  end Ambient;

  model Conductor
    HeatPort a, b;
    parameter Real G(unit = "W/K");
  equation
    a.Q_flow = G*(a.T - b.T);
    a.Q_flow + b.Q_flow = 0;
  end Conductor;

  model Wall "joined to the air without a line in the drawing"
    HeatPort inside;
    outer Ambient ambient;
    parameter Real A(unit = "m2") = 10;
    parameter Real U(unit = "W/(m2.K)") = 0.3;
  protected
    Conductor conductor(G = U*A);
  equation
    connect(inside, conductor.a);
    connect(conductor.b, ambient.port);
  end Wall;

  model Air
    HeatPort port;
    parameter Real C(unit = "J/K");
    Real T(unit = "K", start = 288.15, fixed = true) = port.T;
  equation
    C*der(T) = port.Q_flow;
  end Air;

  model Heater
    HeatPort port;
    parameter Real P(unit = "W");
  equation
    port.Q_flow = -P;
  end Heater;

  model Room
    parameter Real P(unit = "W") = 500;
    Wall wall[3](A = {10, 12, 15});
    Wall window(A = 3, U = 1.1);
    Air air(C = 1e5);
    Heater heater(P = P);
  equation
    for i in 1:3 loop
      connect(wall[i].inside, air.port);
    end for;
    connect(window.inside, air.port);
    connect(heater.port, air.port);
  end Room;

  model TwoRooms
    inner Ambient ambient(T0 = 270);
    Room kitchen;
    Room bath(P = 800);
    annotation(experiment(StopTime = 20000));
  end TwoRooms;
end House;
