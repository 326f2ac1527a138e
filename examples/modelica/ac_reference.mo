package AcReference "a network of phasors whose pins carry the angle of their frame: an overdetermined graph with loops"
  type Angle = Real(unit = "rad");

  record Reference "the frame in which phasors are given"
    Angle gamma "angle of the frame";
    function equalityConstraint "frames that meet in a loop are equal already"
      input Reference reference1;
      input Reference reference2;
      output Real residue[0];
    algorithm
      assert(abs(reference1.gamma - reference2.gamma) < 1e-6, "frames differ");
    end equalityConstraint;
  end Reference;

  connector Pin
    Real v[2](each unit = "V") "real and imaginary part";
    flow Real i[2](each unit = "A");
    Reference reference;
  end Pin;

  partial model Branch
    Pin p, n;
    Real v[2](each unit = "V") = p.v - n.v;
    Real i[2](each unit = "A") = p.i;
    Real omega(unit = "rad/s") = der(p.reference.gamma);
  equation
    p.i + n.i = zeros(2);
    Connections.branch(p.reference, n.reference);
    p.reference.gamma = n.reference.gamma;
  end Branch;

  model Resistor
    extends Branch;
    parameter Real R(unit = "Ohm");
  equation
    v = R*i;
  end Resistor;

  model Inductor
    extends Branch;
    parameter Real L(unit = "H");
  equation
    v = omega*L*{-i[2], i[1]};
  end Inductor;

  model Source
    Pin p, n;
    parameter Real V(unit = "V");
    parameter Real f(unit = "Hz");
    Angle gamma(start = 0, fixed = true);
  equation
    Connections.root(p.reference);
    Connections.branch(p.reference, n.reference);
    der(gamma) = 2*Modelica.Constants.pi*f;
    p.reference.gamma = gamma;
    n.reference.gamma = p.reference.gamma;
    p.v - n.v = {V, 0};
    p.i + n.i = zeros(2);
  end Source;

  model Ground
    Pin p;
  equation
    Connections.potentialRoot(p.reference, 256);
    if Connections.isRoot(p.reference) then
      p.reference.gamma = 0;
    end if;
    p.v = zeros(2);
  end Ground;

  model Network "two branches in parallel, closed over the source: two loops of frames"
    Source source(V = 10, f = 50);
    Resistor R1(R = 2), R2(R = 4);
    Inductor L1(L = 0.01);
    Ground ground;
  equation
    connect(source.p, R1.p);
    connect(source.p, R2.p);
    connect(R1.n, L1.p);
    connect(L1.n, source.n);
    connect(R2.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 0.02));
  end Network;
end AcReference;
