// Two reinit that set one state to different values at one event, or one without a value, are refused by name; equal values are no contradiction.
// run: simulate --solver {auto,radau,ida}
// expect: exit 6
// expect: says /at time 0.5 two reinit set x to different values/
// expect: says /note: the other one/
// run: simulate
// change: reinit(x, 2) -> reinit(x, 2 - 1)
// expect: x = 1 + (time - 0.5) within 1e-6 at 1
// run: simulate
// change: time >= 0.5 -> time >= 0.75
// expect: x = 2 + (time - 0.75) within 1e-6 at 1
// run: simulate
// change: reinit(x, 2) -> reinit(negative, 2)
// expect: exit 6
// expect: says two reinit set
// run: simulate
// change: time >= 0.5 -> time >= 2
// change: reinit(x, 1) -> reinit(x, log(-x)) | reinit(x, 1/(x - x)) | reinit(x, sqrt(x - 1))
// expect: exit 6
// expect: says at time 0.5 reinit sets x to a value that is not defined
model M
  Real x(start = 0, fixed = true), negative = -x;
equation
  der(x) = 1;
  when time > 0.5 then
    reinit(x, 1);
  end when;
  when time >= 0.5 then
    reinit(x, 2);
  end when;
end M;
