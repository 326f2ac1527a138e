package Quadrature "a function as argument of a function, some of its inputs bound before"
  partial function Integrand
    input Real x;
    output Real y;
  end Integrand;

  function simpson "Simpson's rule with 2 n intervals"
    input Integrand f;
    input Real a, b;
    input Integer n = 20;
    output Real integral;
  protected
    Real h = (b - a)/(2*n);
  algorithm
    integral := f(a) + f(b);
    for i in 1:2*n - 1 loop
      integral := integral + (if mod(i, 2) == 1 then 4 else 2)*f(a + i*h);
    end for;
    integral := integral*h/3;
  end simpson;

  function bell
    extends Integrand;
    input Real mean = 0;
    input Real width = 1;
  algorithm
    y := exp(-((x - mean)/width)^2);
  end bell;

  connector RealOutput = output Real;

  block Dose "what a probe has taken in, in closed form and as a state"
    parameter Real mean = 1, width = 0.3;
    RealOutput byRule, byState(start = 0, fixed = true);
  equation
    byRule = simpson(function bell(mean = mean, width = width), 0, time, n = 40);
    der(byState) = bell(time, mean, width);
  end Dose;

  model Compare
    Dose early;
    Dose late(mean = 1.5, width = 0.5);
    annotation(experiment(StopTime = 2, Tolerance = 1e-9));
  end Compare;
end Quadrature;
