model UnclosedParenthesis
  // expect: exit 3
  // expect: 6:13: expected `)`, found `;`
  Real x;
equation
  x = (1 + 2;
end UnclosedParenthesis;
