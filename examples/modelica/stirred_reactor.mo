package StirredReactor "A becomes B becomes C in two stirred tanks; substances are an enumeration"
  type Substance = enumeration(A, B, C);

  connector Stream "a flow with its concentrations"
    Real q(unit = "m3/s");
    Real c[Substance](each unit = "mol/m3");
  end Stream;

  connector Inlet = input Stream;
  connector Outlet = output Stream;

  model Feed
    Outlet outlet;
    parameter Real q(unit = "m3/s") = 0.01;
    parameter Real c[Substance](each unit = "mol/m3") = {100, 0, 0};
  equation
    outlet.q = q;
    outlet.c = c;
  end Feed;

  model Tank
    Inlet inlet;
    Outlet outlet;
    parameter Real V(unit = "m3") = 1;
    parameter Real k1(unit = "1/s") = 0.02 "A to B";
    parameter Real k2(unit = "1/s") = 0.01 "B to C";
    Real c[Substance](each start = 0, each fixed = true, each unit = "mol/m3");
  protected
    Real r1 = k1*c[Substance.A], r2 = k2*c[Substance.B];
  equation
    V*der(c) = inlet.q*(inlet.c - c) + V*{-r1, r1 - r2, r2};
    outlet.q = inlet.q;
    outlet.c = c;
  end Tank;

  model Plant
    Feed feed;
    Tank tank1, tank2(V = 2);
    Real total(unit = "mol/m3") = sum(tank2.c);
  equation
    connect(feed.outlet, tank1.inlet);
    connect(tank1.outlet, tank2.inlet);
    annotation(experiment(StopTime = 400, Tolerance = 1e-8));
  end Plant;
end StirredReactor;
