model UnclosedParenthesis
  // run: check
  // expect: exit 3
  // expect: 7:13: expected `)`, found `;`
  Real x;
equation
  x = (1 + 2;
end UnclosedParenthesis;
