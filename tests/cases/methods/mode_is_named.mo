// Equations of a single mode have a comment that names this mode.
// run: reduce --method {dummy,minimal,underlying}
// expect: prints // the equations are those where x < 1 is true; they differ elsewhere
// run: reduce --method {dummy,minimal,underlying}
// change: x(start = 0.5 -> x(start = 1.5
// expect: prints // the equations are those where x < 1 is false; they differ elsewhere
model M
  Real x(start = 0.5, fixed = true), y(start = 1), z(start = 1);
equation
  der(x) = 1;
  if x < 1 then
    y = x;
    der(z) = y;
  else
    der(y) = -y;
    z = y;
  end if;
end M;
