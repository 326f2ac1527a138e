// run: simulate
// expect: exit 5
// expect: 9:3: contradict `x^2 + y^2 = 1`
model M
  Real x(start = 1, fixed = true), y(start = 1, fixed = true);
lagrangian
  der(x)^2 + der(y)^2;
constraint
  x^2 + y^2 = 1  "rod" ;
end M;
