package TransmissionLine "a line of coils and capacitors: hierarchical components, energy is kept"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  model Coil
    Pin p, n;
    parameter Real L(unit = "H");
    Real i(unit = "A", start = 0, fixed = true) = p.i;
  equation
    p.i + n.i = 0;
    L*der(i) = p.v - n.v;
  end Coil;

  model Capacitor
    Pin p, n;
    parameter Real C(unit = "F");
    Real v(unit = "V", start = 0, fixed = true) = p.v - n.v;
  equation
    p.i + n.i = 0;
    C*der(v) = p.i;
  end Capacitor;

  model Cell
    Pin left, right, ground;
    parameter Real L(unit = "H") = 1e-3, C(unit = "F") = 1e-9;
    Coil coil(L = L);
    Capacitor capacitor(C = C);
    Real energy(unit = "J") = L*coil.i^2/2 + C*capacitor.v^2/2;
  equation
    connect(left, coil.p);
    connect(coil.n, right);
    connect(coil.n, capacitor.p);
    connect(capacitor.n, ground);
  end Cell;

  model Line
    parameter Integer n = 10;
    Pin left, right, ground;
    Cell cell[n];
  equation
    connect(left, cell[1].left);
    connect(cell[1:end - 1].right, cell[2:end].left);
    connect(cell[end].right, right);
    for i in 1:n loop
      connect(cell[i].ground, ground);
    end for;
  end Line;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Pulse
    Line line(cell(coil(i(start = {if i == 1 then 1 else 0 for i in 1:10}))));
    Ground left, ground;
    Real energy(unit = "J") = sum(line.cell.energy);
  equation
    connect(left.p, line.left);
    connect(line.ground, ground.p);
    annotation(experiment(StopTime = 5e-5, Tolerance = 1e-9));
  end Pulse;
end TransmissionLine;
