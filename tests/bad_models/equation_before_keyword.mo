model EquationBeforeKeyword
  // expect: exit 3
  // expect: 5:5: equations stand behind `equation`
  Real x;
  x = 3;
end EquationBeforeKeyword;
