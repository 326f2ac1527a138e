package Thermostat "a room is heated between two temperatures: hysteresis by Boolean signals"
  connector RealInput = input Real;
  connector RealOutput = output Real;
  connector BooleanInput = input Boolean;
  connector BooleanOutput = output Boolean;

  block Hysteresis
    RealInput u;
    BooleanOutput y(start = true, fixed = true);
    parameter Real low, high;
  equation
    y = not pre(y) and u < low or pre(y) and u <= high;
  end Hysteresis;

  block Switch
    BooleanInput on;
    RealOutput P;
    parameter Real Pmax(unit = "W");
  equation
    P = if on then Pmax else 0;
  end Switch;

  model Room
    RealInput P;
    RealOutput T(start = 15, fixed = true);
    parameter Real G(unit = "W/K") = 50;
    parameter Real C(unit = "J/K") = 1e5;
    parameter Real T0(unit = "degC") = 5;
  equation
    C*der(T) = P - G*(T - T0);
  end Room;

  model Controlled
    Room room;
    Hysteresis hysteresis(low = 19, high = 21);
    Switch switch(Pmax = 2000);
    Real energy(start = 0, fixed = true);
    discrete Real period(start = 0, fixed = true), last(start = 0, fixed = true);
  equation
    connect(room.T, hysteresis.u);
    connect(hysteresis.y, switch.on);
    connect(switch.P, room.P);
    der(energy) = switch.P;
    when hysteresis.y then
      period = time - pre(last);
      last = time;
    end when;
    annotation(experiment(StopTime = 6000, Tolerance = 1e-8));
  end Controlled;
end Thermostat;
