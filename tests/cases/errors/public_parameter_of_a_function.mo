model PublicParameterOfAFunction
  // run: check --strict
  // expect: exit 3
  // expect: 9:20: must be protected
  // run: check
  // expect: exit 0
  function f
    input Real x;
    parameter Real k = 2;
    output Real y = k*x;
  algorithm
  end f;
  Real z = f(time);
end PublicParameterOfAFunction;
