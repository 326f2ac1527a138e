// A connector through which nothing can flow out is connected to the connector of the component around it: its value is passed on nevertheless.
// run: simulate --quiet --stop-time 1 --intervals 4
// expect: c.port.h = 5 + time within 1e-12 everywhere
// expect: back = 5 + time within 1e-12 everywhere
package P
  connector Port
    Real p; flow Real m; stream Real h;
  end Port;
  model Sink
    Port port(m(min = 0));
  equation
    port.p = 0; port.h = 5 + time;
  end Sink;
  model Shell
    Port port; Sink sink;
  equation
    connect(port, sink.port);
  end Shell;
  model Source
    Port port;
  equation
    port.m = -1; port.h = 2;
  end Source;
  model M
    Shell c; Source s; Real back = inStream(s.port.h);
  equation
    connect(s.port, c.port);
  end M;
end P;
