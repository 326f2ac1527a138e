package P
  // run: check
  // expect: exit 3
  // expect: 10: `b` is not declared
  // expect: 17: expected Real
  function f
    input Real a;
    output Real y;
  algorithm
    y := a + b;
  end f;

  function g
    input Real a;
    output Real y;
  algorithm
    y := f({a, a}) + h("text");
  end g;

  function h
    input Real a;
    output Real y;
  algorithm
    y := 2*a;
  end h;

  partial function base "not a function by itself"
    input Real a;
    output Real y;
  end base;

  model Other
    function own
      input Real a;
      output Real y;
    algorithm
      y := nonsense;
    end own;
    Real x = own(1);
  end Other;
end P;

model UncalledFunction
  Real x = time;
end UncalledFunction;
