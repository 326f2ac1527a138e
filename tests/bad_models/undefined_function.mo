model UndefinedFunction
  // expect: exit 3
  // expect: 6:7: `sine`
  Real x;
equation
  x = sine(time);
end UndefinedFunction;
