model EquationBeforeKeyword
  // run: check
  // expect: exit 3
  // expect: 6:5: equations come after `equation`
  Real x;
  x = 3;
end EquationBeforeKeyword;
