// Each class is counted by itself, before the whole model: the class that lacks an equation is named, but not the classes that contain it.
// run: check
// expect: exit 4
// expect: says unbalanced_class.mo:20:9: error: class `P.Resistor` has 1 equation too few: 4 for 5 variables by itself
// expect: says 18 equations for 20 variables: 2 too few
// expect: never says class `P.Pair`
// run: simulate
// expect: exit 4
// expect: says class `P.Resistor` has 1 equation too few: 4 for 5 variables by itself
// run: check --model P.Local
// expect: exit 4
// expect: says error: class `P.Local.Half.Part` has 1 equation too few: 1 for 2 variables by itself
// run: check
// change: v = R*p.i -> v = R*p.i; p.i + n.i = 0
package P
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Resistor
    Pin p, n;
    parameter Real R = 1;
    Real v;
  equation
    v = p.v - n.v;
    v = R*p.i;
  end Resistor;
  model Pair
    Resistor a, b(R = 2);
    Pin p, n;
  equation
    connect(p, a.p);
    connect(a.n, b.p);
    connect(b.n, n);
  end Pair;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  model Source
    Pin p, n;
  equation
    p.v - n.v = 1;
    p.i + n.i = 0;
  end Source;
  model Local
    model Half
      model Part
        Real x, y;
      equation
        x = time;
      end Part;
      Part part;
    end Half;
    Half half;
  end Local;
  model Circuit
    Pair pair;
    Source source;
    Ground ground;
  equation
    connect(source.p, pair.p);
    connect(pair.n, source.n);
    connect(ground.p, source.n);
  end Circuit;
end P;
