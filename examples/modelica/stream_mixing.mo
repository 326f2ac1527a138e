package StreamMixing "stream connectors: three flows meet in one point"
  connector Port
    Real p(unit = "Pa");
    flow Real m_flow(unit = "kg/s");
    stream Real h(unit = "J/kg");
  end Port;

  model Source "a flow of given size and enthalpy"
    Port port;
    input Real m_flow(unit = "kg/s");
    parameter Real h(unit = "J/kg");
  equation
    port.m_flow = -m_flow;
    port.h = h;
  end Source;

  model Sink "a pressure"
    Port port;
    parameter Real p(unit = "Pa") = 1e5;
    parameter Real h(unit = "J/kg") = 1e5 "of what would flow back";
    Real h_in(unit = "J/kg") = inStream(port.h);
  equation
    port.p = p;
    port.h = h;
  end Sink;

  model Valve "without storage: enthalpy goes through"
    Port a, b;
    parameter Real k(unit = "kg/(s.Pa)") = 1e-4;
  equation
    a.m_flow = k*(a.p - b.p);
    a.m_flow + b.m_flow = 0;
    a.h = inStream(b.h);
    b.h = inStream(a.h);
  end Valve;

  model Mixing
    Source cold(m_flow = 2, h = 1e5);
    parameter Real rate(unit = "kg/s2") = 1;
    Source warm(m_flow = 1 + rate*time, h = 4e5);
    Valve valve;
    Sink sink;
    Real h_mix(unit = "J/kg") = valve.b.h;
    Real H_flow(unit = "W") = sink.port.m_flow*actualStream(sink.port.h);
  equation
    connect(cold.port, valve.a);
    connect(warm.port, valve.a);
    connect(valve.b, sink.port);
    annotation(experiment(StopTime = 2));
  end Mixing;
end StreamMixing;
