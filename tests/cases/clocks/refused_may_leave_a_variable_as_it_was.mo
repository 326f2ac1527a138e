// run: check
// expect: exit 3
// expect: 10:5: may leave a variable unchanged
model M
  Real x, y;
equation
  y = sample(time, Clock(0.1));
algorithm
  if y > 0.2 then
    x := 3;
  end if;
end M;
