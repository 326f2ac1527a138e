package TankCascade "a tank runs empty by Torricelli's law and fills the next"
  connector Inlet
    input Real q(unit = "m3/s");
  end Inlet;

  connector Outlet
    output Real q(unit = "m3/s");
  end Outlet;

  model Tank
    parameter Real A(unit = "m2") = 0.5;
    parameter Real a(unit = "m2") = 0.002 "of the hole";
    parameter Real h0(unit = "m") = 0;
    constant Real g(unit = "m/s2") = 9.81;
    Inlet inlet;
    Outlet outlet;
    Real h(unit = "m", start = h0, fixed = true);
  equation
    A*der(h) = inlet.q - outlet.q;
    outlet.q = a*sqrt(2*g*max(h, 0));
  end Tank;

  model Reservoir
    Inlet inlet;
    Real V(unit = "m3", start = 0, fixed = true);
  equation
    der(V) = inlet.q;
  end Reservoir;

  block Tap
    Outlet outlet;
    parameter Real q = 0;
  equation
    outlet.q = q;
  end Tap;

  model Cascade
    Tap tap;
    Tank tank[3](h0 = {2, 1, 0.5}, a = {0.002, 0.003, 0.004});
    Reservoir reservoir;
    Real V(unit = "m3") = sum(tank.A.*tank.h) + reservoir.V;
  equation
    connect(tap.outlet, tank[1].inlet);
    connect(tank[1:2].outlet, tank[2:3].inlet);
    connect(tank[3].outlet, reservoir.inlet);
    annotation(experiment(StopTime = 100, Tolerance = 1e-8));
  end Cascade;
end TankCascade;
