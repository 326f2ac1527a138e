// Gates of nMOS transistors (Shichman, Hodges) with depletion loads: a NAND gate of 14 node voltages, and a two bit adder of 169 node voltages. The adder has 42 transistors in eleven gates,
// and counts through its 32 inputs. Volt, nanosecond, kiloohm, milliampere, picofarad. Every
// capacitor and every junction keeps its charge.
package Logic "Gates of MOS transistors"
  connector Pin
    Real v;
    flow Real i;
  end Pin;

  model Source "A node of given voltage"
    Pin p;
    Real v;
  equation
    p.v = v;
  end Source;

  model Resistor
    Pin p, n;
    parameter Real R;
  equation
    p.i = (p.v - n.v)/R;
    p.i + n.i = 0;
  end Resistor;

  model Capacitor
    Pin p, n;
    parameter Real C;
    Real q(nominal = C);
  equation
    q = C*(p.v - n.v);
    der(q) = p.i;
    p.i + n.i = 0;
  end Capacitor;

  model Junction "A diode from p to n with the charge of its depletion layer"
    Pin p, n;
    parameter Real C = 2.4e-5, phi = 0.87, IS = 1e-14, UT = 0.02585;
    Real u, q(nominal = C);
  equation
    u = p.v - n.v;
    q = if u <= 0 then 2*C*phi*(1 - sqrt(1 - u/phi)) else C*u*(1 + u/(4*phi));
    p.i = der(q) + (if u <= 0 then IS*(exp(u/UT) - 1) else 0);
    p.i + n.i = 0;
  end Junction;

  model Channel "The current from drain to source that the gate lets pass"
    Pin d, g, s;
    parameter Real VT0, beta, gamma, delta, phi;
    input Real ubs, ubd "substrate to source and drain";
    Real uds, from_s, from_d "voltages of the gate beyond the threshold";
  equation
    uds = d.v - s.v;
    from_s = g.v - s.v - VT0 - gamma*(sqrt(phi - ubs) - sqrt(phi));
    from_d = g.v - d.v - VT0 - gamma*(sqrt(phi - ubd) - sqrt(phi));
    d.i = if uds >= 0 then
        (if from_s <= 0 then 0 elseif from_s <= uds then beta*(1 + delta*uds)*from_s^2 else beta*uds*(1 + delta*uds)*(2*from_s - uds))
      else
        (if from_d <= 0 then 0 elseif from_d <= -uds then -beta*(1 - delta*uds)*from_d^2 else beta*uds*(1 - delta*uds)*(2*from_d + uds));
    d.i + s.i = 0;
    g.i = 0;
  end Channel;

  model Transistor "n-channel, with resistances to its inner drain and source and to the substrate"
    Pin d, g, s;
    parameter Real VT0 = 0.2, beta = 1.748e-3, gamma = 0.035, delta = 0.02, phi = 1.01;
    Channel channel(VT0 = VT0, beta = beta, gamma = gamma, delta = delta, phi = phi, ubs = bs.u, ubd = bd.u);
    Capacitor cgs(C = 0.6e-4), cgd(C = 0.6e-4);
    Junction bs, bd;
    Resistor rs(R = 4), rd(R = 4), rbs(R = 10), rbd(R = 10);
    Source substrate(v = -2.5);
  equation
    connect(g, channel.g);
    connect(g, cgs.p);
    connect(g, cgd.p);
    connect(cgs.n, channel.s);
    connect(cgd.n, channel.d);
    connect(rs.p, channel.s);
    connect(rd.p, channel.d);
    connect(rs.n, s);
    connect(rd.n, d);
    connect(bs.n, s);
    connect(bd.n, d);
    connect(rbs.n, bs.p);
    connect(rbd.n, bd.p);
    connect(rbs.p, substrate.p);
    connect(rbd.p, substrate.p);
  end Transistor;

  partial model Gate "A depletion load, always open, pulls the output up"
    Pin out;
    Transistor load(VT0 = -2.43, beta = 5.35e-4, gamma = 0.2, phi = 1.28);
    Node node;
    Source supply(v = 5);
  equation
    connect(load.d, supply.p);
    connect(load.g, out);
    connect(load.s, out);
    connect(node.p, out);
  end Gate;

  model Node "Its capacitance to ground"
    Pin p;
    Capacitor c(C = 0.5e-4);
    Ground ground;
  equation
    connect(p, c.p);
    connect(c.n, ground.p);
  end Node;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Not
    extends Gate;
    Pin a;
    Transistor m;
    Ground ground;
  equation
    connect(a, m.g);
    connect(m.d, out);
    connect(m.s, ground.p);
  end Not;

  model Nor "not (a or b)"
    extends Gate;
    Pin a, b;
    Transistor ma, mb;
    Ground ground;
  equation
    connect(a, ma.g);
    connect(b, mb.g);
    connect(ma.d, out);
    connect(mb.d, out);
    connect(ma.s, ground.p);
    connect(mb.s, ground.p);
  end Nor;

  model Nand "not (a and b)"
    extends Gate;
    Pin a, b;
    Transistor ma, mb;
    Node between;
    Ground ground;
  equation
    connect(a, ma.g);
    connect(b, mb.g);
    connect(ma.d, out);
    connect(ma.s, mb.d);
    connect(between.p, mb.d);
    connect(mb.s, ground.p);
  end Nand;

  model AndOrInvert "not (a and b or c)"
    extends Gate;
    Pin a, b, c;
    Transistor ma, mb, mc;
    Node between;
    Ground ground;
  equation
    connect(a, ma.g);
    connect(b, mb.g);
    connect(c, mc.g);
    connect(ma.d, out);
    connect(mc.d, out);
    connect(ma.s, mb.d);
    connect(between.p, mb.d);
    connect(mb.s, ground.p);
    connect(mc.s, ground.p);
  end AndOrInvert;

  model Pulse "0 V, then 5 V in the second half of the period, with ramps of 5 ns"
    Pin p;
    parameter Real period;
    Real t "in the period";
  equation
    t = mod(time, period);
    p.v = if t > period - 5 then period - t elseif t > period/2 then 5 elseif t > period/2 - 5 then t - period/2 + 5 else 0;
  end Pulse;

  model FullAdder "sum and carry of a + b + c; it wants the inverted carry, too"
    Pin a, b, c, not_c, sum, carry;
    Nor none, same;
    AndOrInvert one "exactly one of a and b", odd, two;
  equation
    connect(a, none.a);
    connect(b, none.b);
    connect(a, one.a);
    connect(b, one.b);
    connect(none.out, one.c);
    connect(one.out, same.a);
    connect(c, same.b);
    connect(one.out, odd.a);
    connect(c, odd.b);
    connect(same.out, odd.c);
    connect(odd.out, sum);
    connect(one.out, two.a);
    connect(not_c, two.b);
    connect(none.out, two.c);
    connect(two.out, carry);
  end FullAdder;
end Logic;

model NandGate
  extends Logic.Nand;
  Logic.Pulse pa(period = 20), pb(period = 40);
equation
  connect(pa.p, a);
  connect(pb.p, b);
  annotation(experiment(StopTime = 80));
end NandGate;

model TwoBitAdder
  Logic.Pulse a0(period = 20), b0(period = 40), a1(period = 80), b1(period = 160), c(period = 320);
  Logic.Source not_c(v = 5 - c.p.v);
  Logic.FullAdder low, high;
  Logic.Not invert;
equation
  connect(a0.p, low.a);
  connect(b0.p, low.b);
  connect(c.p, low.c);
  connect(not_c.p, low.not_c);
  connect(a1.p, high.a);
  connect(b1.p, high.b);
  connect(low.carry, high.c);
  connect(low.carry, invert.a);
  connect(invert.out, high.not_c);
  annotation(experiment(StopTime = 320));
end TwoBitAdder;
