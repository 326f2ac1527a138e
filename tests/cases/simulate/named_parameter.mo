// A parameter that --variables names is a column; a parameter that only an expression matches is not.
// run: simulate --variables x,b
// expect: b = 6 everywhere
// run: simulate --variables x|b
// expect: count(column("x") > 0) = rows
model NamedParameter
  parameter Real a = 2, b = 3*a;
  Real x(start = 1, fixed = true);
equation
  der(x) = -a*x;
end NamedParameter;
