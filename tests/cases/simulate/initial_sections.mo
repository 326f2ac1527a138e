// initial(), sample and the like in initial sections have the values of the start.
// run: simulate
// expect: x = 3 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial equation x = if sample(0, 1) then 3 else 4;
// expect: x = 4 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial equation x = if edge(b) then 3 else 4;
// expect: x = 4 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial equation x = delay(y, 1);
// expect: x = 2 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial algorithm if initial() then x := 5; else x := 6; end if;
// expect: x = 5 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial equation x = if change(b) then 3 else delay(y, 0.5) + 1;
// expect: x = 3 at start
// run: simulate
// change: initial equation x = if initial() then 3 else 4; -> initial algorithm x := if terminal() or sample(0, 1) then 3 else y;
// expect: x = 2 at start
model M
  Real x, y(start = 2, fixed = true);
  Boolean b(start = false, fixed = true);
initial equation x = if initial() then 3 else 4;
equation
  der(x) = -x;
  der(y) = -y;
  when sample(0.25, 0.25) then
    b = not pre(b);
  end when;
end M;
