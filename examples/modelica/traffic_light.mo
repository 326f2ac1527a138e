package TrafficLight "a traffic light whose states are literals of an enumeration; cars wait at it"
  type Light = enumeration(red, redYellow, green, yellow);

  connector LightInput = input Light;
  connector LightOutput = output Light;

  block Controller
    parameter Real duration[Light](each unit = "s") = {20, 2, 15, 3};
    LightOutput light(start = Light.red, fixed = true);
  protected
    discrete Real next(start = duration[Light.red], fixed = true);
  algorithm
    when time >= pre(next) then
      if pre(light) == Light.red then
        light := Light.redYellow;
      elseif pre(light) == Light.redYellow then
        light := Light.green;
      elseif pre(light) == Light.green then
        light := Light.yellow;
      else
        light := Light.red;
      end if;
      next := pre(next) + duration[light];
    end when;
  end Controller;

  model Road
    LightInput light;
    parameter Real arrive(unit = "1/s") = 0.2, leave(unit = "1/s") = 0.8;
    Boolean go = light == Light.green;
    Real waiting(start = 0, fixed = true);
    Boolean empty = waiting <= 0;
  equation
    der(waiting) = if go then (if empty then 0 else arrive - leave) else arrive;
  end Road;

  model Crossing
    Controller controller;
    Road road;
  equation
    connect(controller.light, road.light);
    annotation(experiment(StopTime = 60));
  end Crossing;
end TrafficLight;
