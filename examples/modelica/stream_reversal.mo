package StreamReversal "a volume breathes through a pipe: the flow turns, and with it the enthalpy that it carries"
  connector Port
    Real p;
    flow Real m_flow;
    stream Real h;
  end Port;

  model Volume "of constant mass density: mass and energy"
    parameter Integer n = 1 "ports";
    Port port[n];
    Real m(start = 1, fixed = true);
    Real h(start = 1, fixed = true);
  equation
    der(m) = sum(port.m_flow);
    der(m*h) = port.m_flow*actualStream(port.h);
    for i in 1:n loop
      port[i].p = m;
      port[i].h = h;
    end for;
  end Volume;

  model Pump "pushes a flow that is given"
    Port a, b;
    input Real m_flow;
  equation
    a.m_flow = m_flow;
    a.m_flow + b.m_flow = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h);
  end Pump;

  model Ambient
    Port port;
    parameter Real h = 3;
  equation
    port.p = 1;
    port.h = h;
  end Ambient;

  model Breathing
    Ambient ambient;
    Pump pump(m_flow = if time < 1 then 2 else -1);
    Volume volume(n = 2);
    Pump leak(m_flow = 0.5);
    Ambient outside(h = 7);
  equation
    connect(ambient.port, pump.a);
    connect(pump.b, volume.port[1]);
    connect(volume.port[2], leak.a);
    connect(leak.b, outside.port);
    annotation(experiment(StopTime = 1.5, Tolerance = 1e-8));
  end Breathing;
end StreamReversal;
