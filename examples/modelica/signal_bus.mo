package SignalBus "an expandable connector: sensors and controllers say what the bus carries"
  connector RealInput = input Real;
  connector RealOutput = output Real;

  expandable connector Bus
  end Bus;

  model Vehicle
    parameter Real m(unit = "kg") = 1000;
    parameter Real d(unit = "N.s/m") = 50;
    RealInput f(unit = "N");
    RealOutput v(unit = "m/s", start = 0, fixed = true);
  equation
    m*der(v) = f - d*v;
  end Vehicle;

  block Gain
    RealInput u;
    RealOutput y;
    parameter Real k = 1;
  equation
    y = k*u;
  end Gain;

  block Difference
    RealInput u1, u2;
    RealOutput y = u1 - u2;
  end Difference;

  block Wish
    RealOutput y(unit = "m/s") = if time < 5 then 10 else 20;
  end Wish;

  model Driver
    Bus bus;
    Wish wish;
  equation
    connect(wish.y, bus.wish);
  end Driver;

  model Controller "speed and wish are asked for by name, the force is offered"
    Bus bus;
    Difference error;
    Gain gain(k = 500);
  equation
    connect(bus.wish, error.u1);
    connect(bus.speed, error.u2);
    connect(error.y, gain.u);
    connect(gain.y, bus.force);
  end Controller;

  model Cruise
    Bus bus;
    Vehicle vehicle;
    Driver driver;
    Controller controller;
  equation
    connect(vehicle.v, bus.speed);
    connect(bus.force, vehicle.f);
    connect(driver.bus, bus);
    connect(controller.bus, bus);
    annotation(experiment(StopTime = 10, Tolerance = 1e-8));
  end Cruise;
end SignalBus;
