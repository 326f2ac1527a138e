// run: simulate --stop-time 1
// expect: a.y = 6 within 6e-05
// expect: b.y = 10 within 0.0001
package P
  partial package Medium
    replaceable function f
      input Real x;
      output Real y;
    end f;
    constant Real c = 1;
  end Medium;
  package Water
    extends Medium(c = 3);
    redeclare function extends f
    algorithm
      y := c*x;
    end f;
  end Water;
  package Oil
    extends Water(c = 5);
  end Oil;
  model Pipe
    replaceable package Fluid = Water constrainedby Medium;
    Real y = Fluid.f(2);
  end Pipe;
  model M
    Pipe a;
    Pipe b(redeclare package Fluid = Oil);
  end M;
end P;
