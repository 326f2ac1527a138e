package Chemistry "substances and reactions as components: 2 A and B make C, and back"
  connector Port
    Real c(unit = "mol/m3");
    flow Real r(unit = "mol/(m3.s)");
  end Port;

  model Substance
    Port port;
    parameter Real c0(unit = "mol/m3") = 0;
    Real c(start = c0, fixed = true, unit = "mol/m3");
  equation
    c = port.c;
    der(c) = port.r;
  end Substance;

  model Reaction "left sides nS, right sides nP, with stoichiometric numbers"
    parameter Integer nS = 1, nP = 1;
    parameter Integer s[nS] = ones(nS);
    parameter Integer p[nP] = ones(nP);
    parameter Real kf, kb;
    Port S[nS], P[nP];
    Real rate;
  equation
    rate = kf*product(S[i].c^s[i] for i in 1:nS) - kb*product(P[i].c^p[i] for i in 1:nP);
    S.r = s*rate;
    P.r = -p*rate;
  end Reaction;

  model Vessel
    Substance A(c0 = 3), B(c0 = 2), C;
    Reaction reaction(nS = 2, s = {2, 1}, kf = 0.4, kb = 0.2);
    Real atomsA = A.c + 2*C.c, atomsB = B.c + C.c;
  equation
    connect(A.port, reaction.S[1]);
    connect(B.port, reaction.S[2]);
    connect(reaction.P[1], C.port);
    annotation(experiment(StopTime = 40, Tolerance = 1e-9));
  end Vessel;
end Chemistry;
