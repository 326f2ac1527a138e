// run: init --method overdetermined
// expect: exit 2
// expect: never says variable
// expect: never prints variable
model M
  Real x(start = 1, fixed = true), y(start = 2), z;
  Boolean b = time < 0.5;
equation
  der(x) = -x;
  if b then
    y = x;
    der(z) = y;
  else
    der(y) = -y;
    z = y;
  end if;
end M;
