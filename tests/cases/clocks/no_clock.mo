// run: simulate --stop-time 0.55 --intervals 1
// expect: b = 8 at 0.0
// expect: b = 4 at 0.1
// expect: b = 5 at 0.2
// expect: b = 8 at 0.3
// expect: b = 9 at 0.4
// expect: b = 12 at 0.5
model M
  Integer a(start = 0), b, c(start = 7);
equation
  when Clock(1, 10) then
    a = previous(a) + 1;
  end when;
  c = subSample(shiftSample(a, 1), 2);
  b = noClock(c) + a;
end M;
