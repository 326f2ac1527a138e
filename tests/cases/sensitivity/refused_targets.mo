// run: simulate --sensitivity b
// expect: exit 2
// expect: says differentiate by
// run: simulate --sensitivity n
// expect: exit 2
// expect: says not a Real
// run: simulate --sensitivity f
// expect: exit 2
// expect: says final
// run: simulate --sensitivity x
// expect: exit 2
// expect: says /x.start|NAME.start/
model M
  parameter Integer n = 2;
  parameter Real a = 1;
  final parameter Real f = 1;
  Real v[n];
  Real x(start = 1);
equation
  for i in 1:n loop
    v[i] = a*f*i;
  end for;
  der(x) = -a*x;
end M;
