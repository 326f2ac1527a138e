package BatteryPack "cells in series; a record, and a modifier of one element, give each cell its own charge"
  record CellData "what a data sheet says"
    parameter Real Q(unit = "C") = 3600 "charge";
    parameter Real R(unit = "Ohm") = 0.01;
    parameter Real V0(unit = "V") = 3.0 "empty";
    parameter Real V1(unit = "V") = 4.2 "full";
  end CellData;

  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  model Cell
    parameter CellData data;
    parameter Real start = 1 "charge at the beginning, of 1";
    Pin p, n;
    Real soc(start = start, fixed = true) "state of charge";
  equation
    p.v - n.v = data.V0 + (data.V1 - data.V0)*soc + data.R*p.i;
    p.i + n.i = 0;
    data.Q*der(soc) = p.i;
  end Cell;

  model CurrentLoad
    Pin p, n;
    parameter Real I(unit = "A");
  equation
    p.i = I;
    n.i = -I;
  end CurrentLoad;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Pack
    parameter Integer n = 3;
    parameter CellData strong(Q = 7200, R = 0.005);
    Cell cell[n](data = {strong, strong, CellData(Q = 3600)}, start = {1, 0.9, 0.8});
    CurrentLoad load(I = 2);
    Ground ground;
    Real v(unit = "V") = cell[n].p.v;
  equation
    connect(cell[1:n - 1].p, cell[2:n].n);
    connect(cell[1].n, ground.p);
    connect(cell[n].p, load.p);
    connect(load.n, ground.p);
    annotation(experiment(StopTime = 600));
  end Pack;
end BatteryPack;
