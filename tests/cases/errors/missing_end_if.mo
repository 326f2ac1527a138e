model MissingEndIf
  // run: check
  // expect: exit 3
  // expect: 11:1: `end if;` is missing before this
  Real x;
equation
  if time > 1 then
    x = 1;
  else
    x = 2;
end MissingEndIf;
