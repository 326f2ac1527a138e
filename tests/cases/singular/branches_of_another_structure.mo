// An ideal switch opens an inductor: the current jumps to 0, and the equations then determine the voltage.
// run: simulate
// expect: [i, v] = [0, 1]
model M
  Real i(start = 0, fixed = true), v;
equation
  0.5*der(i) + 2*i + v = 1;
  if time < 1 then
    v = 0;
  else
    i = 0;
  end if;
  annotation(experiment(StopTime = 2));
end M;
