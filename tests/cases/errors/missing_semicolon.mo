model MissingSemicolon
  // run: check
  // expect: exit 3
  // expect: 5:9: expected `;` here, found `Real`
  Real x
  Real y;
equation
  x = 1;
  y = 2;
end MissingSemicolon;
