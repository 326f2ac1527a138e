model KeywordAsName
  // run: check
  // expect: exit 3
  // expect: 7:8: expected the name of a component, found the keyword `inner`
  // expect: 9:3: expected an expression, found the keyword `inner`
  Real x = 1;
  Real inner;
equation
  inner = 1;
end KeywordAsName;
