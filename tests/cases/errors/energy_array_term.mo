model ArrayTerm
  // run: check
  // expect: exit 3
  // expect: 8:3: a term of `dissipation` is a Real number
  // expect: 10:3: this is not allowed in section `constraint`
  Real x;
dissipation
  {der(x)^2, 1};
constraint
  when x > 1 then reinit(x, 0); end when;
end ArrayTerm;
