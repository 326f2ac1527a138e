model EquationBetween
  // run: check
  // expect: exit 3
  // expect: 7:3: this equation relates the coordinates `x` and `y`
  Real x, y;
equation
  x^2 + y^2 = 1;
lagrangian
  der(x)^2 + der(y)^2;
end EquationBetween;
