package SignalBus "an expandable connector: sensors and controllers say what the bus carries"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  expandable connector Bus
  end Bus;

  model Vehicle
    Bus bus;
    parameter Real m(unit = "kg") = 1000;
    parameter Real d(unit = "N.s/m") = 50;
    RealOutput v(unit = "m/s", start = 0, fixed = true);
    RealInput f(unit = "N");
  equation
    m*der(v) = f - d*v;
    connect(v, bus.speed);
    connect(bus.force, f);
  end Vehicle;

  block Driver
    Bus bus;
    RealOutput wish(unit = "m/s") = if time < 5 then 10 else 20;
  equation
    connect(wish, bus.wish);
  end Driver;

  block Controller "speed is asked for by name, the force is offered"
    Bus bus;
    parameter Real k(unit = "N.s/m") = 500;
    RealInput wish(unit = "m/s"), speed(unit = "m/s");
    RealOutput force(unit = "N");
  equation
    force = k*(wish - speed);
    connect(bus.wish, wish);
    connect(bus.speed, speed);
    connect(force, bus.force);
  end Controller;

  model Cruise
    Bus bus;
    Vehicle vehicle;
    Driver driver;
    Controller controller;
  equation
    connect(vehicle.bus, bus);
    connect(driver.bus, bus);
    connect(controller.bus, bus);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end Cruise;
end SignalBus;
