package TwoMass "two free masses on a spring: momentum and energy are kept"
  connector Flange
    Real s(unit = "m");
    flow Real f(unit = "N");
  end Flange;

  partial model Compliant "the force depends on the distance"
    Flange a, b;
    Real s_rel(unit = "m") = b.s - a.s;
    Real f(unit = "N") = b.f;
  equation
    a.f + b.f = 0;
  end Compliant;

  model Spring
    extends Compliant;
    parameter Real c(unit = "N/m");
    parameter Real s_rel0(unit = "m") = 0;
  equation
    f = c*(s_rel - s_rel0);
  end Spring;

  model Mass
    Flange a, b;
    parameter Real m(unit = "kg");
    Real s(unit = "m", start = 0, fixed = true);
    Real v(unit = "m/s", start = 0, fixed = true);
  equation
    s = a.s;
    s = b.s;
    der(s) = v;
    m*der(v) = a.f + b.f;
  end Mass;

  model Oscillator
    Mass left(m = 1, v(start = 2));
    Mass right(m = 3, s(start = 1));
    Spring spring(c = 75, s_rel0 = 1);
    Real momentum(unit = "kg.m/s") = left.m*left.v + right.m*right.v;
    Real energy(unit = "J") = (left.m*left.v^2 + right.m*right.v^2 + spring.c*(spring.s_rel - spring.s_rel0)^2)/2;
  equation
    connect(left.b, spring.a);
    connect(spring.b, right.a);
    annotation(experiment(StopTime = 5, Tolerance = 1e-9));
  end Oscillator;
end TwoMass;
