// A variable that an algorithm of a clock does not assign keeps its value from the previous tick.
// run: simulate --stop-time 0.55 --intervals 1
// expect: [x, n] = [9, 5]
// expect: z = 0.3 within 5e-13
model M
  Real x(start = 5), y, z(start = 1);
  Integer n(start = 1);
equation
  y = sample(time, Clock(1, 10));
algorithm
  if y > 0.15 then
    x := previous(x) + 1;
    n := n + 1;
  end if;
algorithm
  when Clock() then
    if n > 1 and n < 4 then
      z := y;
    end if;
  end when;
end M;
