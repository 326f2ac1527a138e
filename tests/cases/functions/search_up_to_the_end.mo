// A search in a table by `while` or `break` that an assertion keeps within the table: the loop itself has no bound. The
// function is called, and the integral of the interpolated values is exact: 0 up to 2, then a triangle of area 4 up to 6.
// run: simulate --stop-time {1,3,6,7.5}
// change: FIND -> i := 1; while x >= table[i + 1, 1] loop i := i + 1; end while; | i := 0; for k in 1:10 loop i := k; if x < table[k + 1, 1] then break; end if; end for; | i := size(table, 1) - 1; while table[i, 1] > x loop i := i - 1; end while;
// expect: z = (0 if time < 2 else (time - 2)^2/2 if time < 4 else 4 - (6 - min(time, 6))^2/2) within 1e-5
// run: simulate --stop-time 9 --quiet
// change: FIND -> i := 1; while x >= table[i + 1, 1] loop i := i + 1; end while;
// expect: exit 6
// expect: says subscript 6 is out of range
function interpolate
  input Real x, table[:, 2];
  output Real y;
protected
  Integer i;
algorithm
  FIND
  y := table[i, 2] + (x - table[i, 1])/(table[i + 1, 1] - table[i, 1])*(table[i + 1, 2] - table[i, 2]);
end interpolate;
model SearchUpToTheEnd
  Real z(start = 0, fixed = true);
equation
  der(z) = interpolate(time, [0, 0; 2, 0; 4, 2; 6, 0; 8, 0]);
end SearchUpToTheEnd;
