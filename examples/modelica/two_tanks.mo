package TwoTanks "two tanks, joined by a pipe with laminar flow: the levels meet"
  connector Port
    Real p(unit = "Pa");
    flow Real q(unit = "m3/s");
  end Port;

  model Environment "what all tanks share"
    parameter Real g(unit = "m/s2") = 9.81;
    parameter Real rho(unit = "kg/m3") = 1000;
    parameter Real p0(unit = "Pa") = 1e5;
  end Environment;

  model Tank
    outer Environment environment;
    Port port;
    parameter Real A(unit = "m2") = 1;
    Real h(unit = "m", fixed = true);
    Real V(unit = "m3") = A*h;
  equation
    der(V) = port.q;
    port.p = environment.p0 + environment.rho*environment.g*h;
  end Tank;

  model Pipe
    Port a, b;
    parameter Real k(unit = "m3/(s.Pa)");
  equation
    a.q = k*(a.p - b.p);
    a.q + b.q = 0;
  end Pipe;

  model System
    inner Environment environment(rho = 998);
    Tank left(A = 2, h(start = 3));
    Tank right(A = 1, h(start = 0));
    Pipe pipe(k = 1e-5);
  equation
    connect(left.port, pipe.a);
    connect(pipe.b, right.port);
    annotation(experiment(StopTime = 20, Tolerance = 1e-8));
  end System;
end TwoTanks;
