package Transformer "two resonant circuits, coupled by the coils of a transformer"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  model Capacitor
    Pin p, n;
    parameter Real C(unit = "F") = 1e-6;
    Real v(unit = "V", start = 0, fixed = true);
  equation
    v = p.v - n.v;
    p.i = C*der(v);
    p.i + n.i = 0;
  end Capacitor;

  model CoupledCoils "N coils with a matrix of inductances"
    parameter Integer N = 2;
    parameter Real L[N, N](each unit = "H") = identity(N);
    Pin p[N];
    Pin n[N];
    Real i[N](each unit = "A", each start = 0, each fixed = true);
  equation
    p.v - n.v = L*der(i);
    p.i = i;
    p.i + n.i = zeros(N);
  end CoupledCoils;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Resonance
    parameter Real L(unit = "H") = 1e-3;
    parameter Real M(unit = "H") = 2e-4;
    CoupledCoils coils(L = [L, M; M, L]);
    Capacitor C1(v(start = 10));
    Capacitor C2;
    Ground ground[2];
    Real energy(unit = "J");
  equation
    connect(C1.p, coils.p[1]);
    connect(C2.p, coils.p[2]);
    connect(C1.n, coils.n[1]);
    connect(C2.n, coils.n[2]);
    connect(coils.n, ground.p);
    energy = (C1.C*C1.v^2 + C2.C*C2.v^2)/2 + coils.i*coils.L*coils.i/2;
    annotation(experiment(StopTime = 1e-3, Tolerance = 1e-9));
  end Resonance;
end Transformer;
