package RcFilter "a low-pass filter of equal sections: an array of components, connected in a loop"
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  model Section "a resistor in line, a capacitor across"
    Pin left;
    Pin right;
    Pin ground;
    parameter Real R(unit = "Ohm") = 1e3;
    parameter Real C(unit = "F") = 1e-6;
    Real v(unit = "V", start = 0, fixed = true) "voltage of the capacitor";
  equation
    left.v - right.v = R*left.i;
    v = right.v - ground.v;
    C*der(v) = left.i + right.i;
    left.i + right.i + ground.i = 0;
  end Section;

  model SineVoltage
    Pin p;
    Pin n;
    parameter Real V(unit = "V") = 1;
    parameter Real f(unit = "Hz") = 50;
  protected
    constant Real pi = 3.14159265358979323846;
  equation
    p.v - n.v = V*sin(2*pi*f*time);
    p.i + n.i = 0;
  end SineVoltage;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Filter
    parameter Integer n(min = 1) = 4 "number of sections";
    Section section[n](each R = 500, C = {1e-6, 1e-6, 2e-6, 1e-6});
    SineVoltage source(f = 100);
    Ground ground;
    output Real v_out(unit = "V") = section[n].v;
  equation
    connect(source.p, section[1].left);
    for i in 1:n - 1 loop
      connect(section[i].right, section[i + 1].left);
    end for;
    for i in 1:n loop
      connect(section[i].ground, ground.p);
    end for;
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 0.02, Tolerance = 1e-8));
  end Filter;
end RcFilter;
