package DryFriction "a box slides on a table until friction stops it"
  connector Flange
    Real s(unit = "m");
    flow Real f(unit = "N");
  end Flange;

  model Mass
    Flange a, b;
    parameter Real m(unit = "kg") = 1;
    Real s(unit = "m", start = 0, fixed = true);
    Real v(unit = "m/s", fixed = true);
  equation
    a.s = s;
    b.s = s;
    v = der(s);
    m*der(v) = a.f + b.f;
  end Mass;

  model Table
    Flange a;
    parameter Real normal(unit = "N") "normal force";
    parameter Real mu = 0.3 "coefficient of friction";
    Boolean sliding(start = true, fixed = true);
    Real v(unit = "m/s");
  equation
    v = der(a.s);
    when v <= 0 then
      sliding = false;
    end when;
    if sliding then
      a.f = mu*normal;
    else
      der(v) = 0;
    end if;
  end Table;

  model Slide
    constant Real g(unit = "m/s2") = 9.81;
    Mass box(m = 2, v(start = 3));
    Table table(normal = box.m*g);
  equation
    connect(box.b, table.a);
    annotation(experiment(StopTime = 2));
  end Slide;
end DryFriction;
