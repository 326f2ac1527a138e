// A brake that holds a shaft while a motor turns it contradicts the motor, and is not redundant.
// run: simulate --stop-time 2
// expect: exit 4
// expect: says /contradict each other: equation \d - equation \d gives/
model Contradiction
  Real w(start = 1, fixed = true), t1, t2;
  Boolean on(start = false, fixed = true);
equation
  der(w) = 1 - t1 - t2;
  0 = if on then der(w) else t1;
  0 = if on then der(w) - 1 else t2;
  when time > 1 then
    on = true;
  end when;
end Contradiction;
