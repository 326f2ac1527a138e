package ThreePhase "hierarchical connectors: a plug of three pins, a star of three loads"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  connector Plug
    Pin pin[3];
  end Plug;

  partial model TwoPlug
    Plug a;
    Plug b;
    Real v[3](each unit = "V") = a.pin.v - b.pin.v;
    Real i[3](each unit = "A") = a.pin.i;
  equation
    a.pin.i + b.pin.i = zeros(3);
  end TwoPlug;

  model Source
    extends TwoPlug;
    parameter Real V(unit = "V") = 325;
    parameter Real omega(unit = "rad/s") = 314;
  equation
    for k in 1:3 loop
      v[k] = V*sin(omega*time - 2*Modelica.Constants.pi/3*(k - 1));
    end for;
  end Source;

  model Resistor
    extends TwoPlug;
    parameter Real R[3](each unit = "Ohm");
  equation
    v = R.*i;
  end Resistor;

  model Inductor
    extends TwoPlug(i(each start = 0, fixed = {true, true, false}));
    parameter Real L[3](each unit = "H");
  equation
    v = L.*der(i);
  end Inductor;

  model Star "joins the three pins of a plug in one"
    Plug plug;
    Pin neutral;
  equation
    for k in 1:3 loop
      connect(plug.pin[k], neutral);
    end for;
  end Star;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Load "resistors and coils in series, inside of one component with plugs of its own"
    Plug a;
    Plug b;
    Resistor resistor(R = fill(10, 3));
    Inductor inductor(L = fill(0.05, 3));
  equation
    connect(a, resistor.a);
    connect(resistor.b, inductor.a);
    connect(inductor.b, b);
  end Load;

  model Network
    Source source;
    Load load;
    Star star1, star2;
    Ground ground;
    Real power(unit = "W") = source.v*load.resistor.i;
  equation
    connect(source.a, load.a);
    connect(load.b, star2.plug);
    connect(source.b, star1.plug);
    connect(star1.neutral, ground.p);
    annotation(experiment(StopTime = 0.1, Tolerance = 1e-8));
  end Network;
end ThreePhase;
