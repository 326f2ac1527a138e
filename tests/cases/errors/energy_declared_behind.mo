model DeclaredBehind
  // run: check
  // expect: exit 3
  // expect: 10:3: `force` is declared after the section of that name
  Real x;
lagrangian
  der(x)^2;
force x = 3;
public
  Real force;
end DeclaredBehind;
