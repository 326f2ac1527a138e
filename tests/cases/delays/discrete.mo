// Integers and Booleans are delayed without interpolation, in discrete equations and through a Real that holds them.
// let: late = (time - 0.25)*10
// run: simulate --stop-time 1 --intervals 40
// expect: m = max(0, floor(late + 1e-9)) where abs(late - round(late)) > 1e-6
// expect: k = max(0, floor(late + 1e-9)) where abs(late - round(late)) > 1e-6
// expect: b = (time > 0.505) where abs(time - 0.505) > 1e-6
// expect: v = max(0, time - (0.1 if time < 0.5 else 0.2)) within 1e-9 where abs(time - 0.5) > 1e-9
// expect: report.state_events = 1
model M
  Integer n(start=0, fixed=true), m, k, i(start=1, fixed=true);
  Real r, v, s, x(start=0, fixed=true);
  Boolean b;
equation
  when sample(0.1, 0.1) then
    n = pre(n) + 1;
  end when;
  r = n;
  m = integer(delay(r, 0.25));
  k = integer(delay(delay(r, 0.1), 0.15));
  when n >= 5 then
    i = 2;
  end when;
  v = delay(time, 0.1*pre(i), 1);
  der(x) = 1;
  s = x;
  b = delay(delay(s, 0.1), 0.2) > 0.205;
end M;
