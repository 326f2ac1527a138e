// Both sides of a jump are delayed exactly; whens and Booleans react to it.
// let: wave(t) = 1 if t < 0 or t % 1 < 0.5 else -1
// let: area(t) = t if t < 0.3 else 0.3 + (0.5 - abs((t - 0.3) % 1 - 0.5))
// let: from_jump(t) = min(t % 0.5, 0.5 - t % 0.5)
// run: simulate --stop-time 3.2 --intervals 64 --solver {auto,erk,radau,bdf,ida,cvode}
// expect: v = wave(time - 0.3) where from_jump(time - 0.3) > 1e-9
// expect: b = (wave(time - 0.7) > 0) where from_jump(time - 0.7) > 1e-9
// expect: w = area(time) within 1e-6 everywhere
// expect: n = floor(time - 0.75) + 1 where from_jump(time - 0.75) > 1e-9
model M
  Real u, v, w(start=0, fixed=true);
  Integer n(start=0, fixed=true);
  Boolean b;
equation
  u = if mod(time, 1) < 0.5 then 1 else -1;
  v = delay(u, 0.3);
  der(w) = v;
  b = delay(u, 0.7) > 0;
  when delay(u, 0.25) < 0 then
    n = pre(n) + 1;
  end when;
end M;
