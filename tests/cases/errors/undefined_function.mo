model UndefinedFunction
  // run: check
  // expect: exit 3
  // expect: 7:7: `sine`
  Real x;
equation
  x = sine(time);
end UndefinedFunction;
