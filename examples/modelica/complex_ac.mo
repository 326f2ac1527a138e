package ComplexAc "phasors with an operator record of our own"
  operator record Phasor "a complex number"
    Real re;
    Real im;

    encapsulated operator 'constructor'
      import ComplexAc.Phasor;
      function fromReal
        input Real re;
        input Real im = 0;
        output Phasor result(re = re, im = im);
      algorithm
      end fromReal;
    end 'constructor';

    encapsulated operator function '0' "the neutral element of the sum, which currents at a node need"
      import ComplexAc.Phasor;
      output Phasor c = Phasor(0, 0);
    algorithm
    end '0';

    encapsulated operator function '+'
      import ComplexAc.Phasor;
      input Phasor a;
      input Phasor b;
      output Phasor c = Phasor(a.re + b.re, a.im + b.im);
    algorithm
    end '+';

    encapsulated operator '-'
      import ComplexAc.Phasor;
      function negate
        input Phasor a;
        output Phasor c = Phasor(-a.re, -a.im);
      algorithm
      end negate;
      function subtract
        input Phasor a;
        input Phasor b;
        output Phasor c = Phasor(a.re - b.re, a.im - b.im);
      algorithm
      end subtract;
    end '-';

    encapsulated operator function '*'
      import ComplexAc.Phasor;
      input Phasor a;
      input Phasor b;
      output Phasor c = Phasor(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
    algorithm
    end '*';
  end Phasor;

  connector Pin
    Phasor v;
    flow Phasor i;
  end Pin;

  model Impedance
    Pin p, n;
    parameter Phasor Z = Phasor(1, 0);
  equation
    p.v - n.v = Z*p.i;
    p.i.re + n.i.re = 0;
    p.i.im + n.i.im = 0;
  end Impedance;

  model Source
    Pin p, n;
    parameter Phasor V = Phasor(1);
  equation
    p.v - n.v = V;
    p.i.re + n.i.re = 0;
    p.i.im + n.i.im = 0;
  end Source;

  model Ground
    Pin p;
  equation
    p.v.re = 0;
    p.v.im = 0;
  end Ground;

  model Network
    parameter Real omega(unit = "rad/s") = 100;
    Source source(V = Phasor(10));
    Impedance coil(Z = Phasor(3, omega*0.04));
    Impedance capacitor(Z = Phasor(0, -1/(omega*2e-3)));
    Impedance load(Z = Phasor(5));
    Ground ground;
  equation
    connect(source.p, coil.p);
    connect(coil.n, capacitor.p);
    connect(coil.n, load.p);
    connect(capacitor.n, source.n);
    connect(load.n, source.n);
    connect(source.n, ground.p);
    annotation(experiment(StopTime = 1));
  end Network;
end ComplexAc;
