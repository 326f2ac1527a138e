package Epidemic "stocks and flows: people move from one stock to the next"
  connector Door
    Real level;
    flow Real rate(unit = "1/d");
  end Door;

  model Stock
    Door door;
    parameter Real start = 0;
    Real level(start = start, fixed = true);
  equation
    level = door.level;
    der(level) = door.rate;
  end Stock;

  partial model Flow "people go from a to b"
    Door a, b;
    Real rate(unit = "1/d");
  equation
    a.rate = rate;
    b.rate = -rate;
  end Flow;

  model Infection
    extends Flow;
    parameter Real beta(unit = "1/d") = 0.5;
    parameter Real N = 1;
  equation
    rate = beta*a.level*b.level/N;
  end Infection;

  model Recovery
    extends Flow;
    parameter Real gamma(unit = "1/d") = 0.1;
  equation
    rate = gamma*a.level;
  end Recovery;

  model City
    parameter Real N = 1000;
    Stock susceptible(start = N - 10), infected(start = 10), recovered;
    Infection infection(final N = N);
    Recovery recovery;
    Real total = susceptible.level + infected.level + recovered.level;
  equation
    connect(susceptible.door, infection.a);
    connect(infection.b, infected.door);
    connect(infected.door, recovery.a);
    connect(recovery.b, recovered.door);
    annotation(experiment(StopTime = 100, Tolerance = 1e-8));
  end City;
end Epidemic;
