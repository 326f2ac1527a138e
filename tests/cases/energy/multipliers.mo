// Names by comment and number, arrays from loops, and their use in equations.
// run: simulate
// expect: lambda_1 == lambda_1
// expect: lambda_rod[1] == lambda_rod[1]
// expect: tension == tension
// expect: der(y) = -3/4 within 1e-6
// expect: lambda_rod[2] = -3/4 within 1e-6
model M
  Real x[3](start = {1, 2, 3}), y(start = 0), tension;
equation
  tension = 2*lambda_rod[2] + lambda_1;
lagrangian
  der(x)*der(x)/2 + der(y)^2/2 - 3*y;
constraint
  y = x[1]  "a comment of words" ;
  for i in 2:3 loop
    x[i] - x[i - 1] = 1  "rod" ;
  end for;
end M;
