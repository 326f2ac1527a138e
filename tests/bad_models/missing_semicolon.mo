model MissingSemicolon
  // expect: exit 3
  // expect: 4:9: expected `;` here, found `Real`
  Real x
  Real y;
equation
  x = 1;
  y = 2;
end MissingSemicolon;
