package Projectile "bodies in a world that gives their gravity; a second world inside of a laboratory"
  model World
    parameter Real g(unit = "m/s2") = 9.81;
  end World;

  partial model Moving
    outer World world;
    Real h(unit = "m", start = 0, fixed = true);
    Real v(unit = "m/s", start = 0, fixed = true);
  equation
    der(h) = v;
  end Moving;

  model Stone
    extends Moving;
  equation
    der(v) = -world.g;
  end Stone;

  model Feather "falls with the friction of air"
    extends Moving;
    parameter Real T(unit = "s") =;
    Real energy(unit = "J") = sum(link.energy);
  equat 0.2;
  equation
    der(v) = -world.g - v/T;
  end Feather;

  model Moon "bodies in here find this world"
    inner Wtone(v(start = 8));
  end Moon;

  model Compare
    inner World world;
    Stone stone(v(start = 8));
    Feather feather(h(start = 2));
    Moon moon;
    annotation(experiment(StopTime = 1, Tolerance = 1e-9));
  end Compare;
end Projectile;
