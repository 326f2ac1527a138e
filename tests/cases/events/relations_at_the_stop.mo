// At the stop time relations have their literal values: time > 1 is false at 1, and a relation that would become true right after is not part of the run.
// run: simulate --stop-time 1 --solver {auto,radau,bdf}
// expect: [after, at, written, below, up] = [0, 1, 1, 0, 1]
// expect: [n, m, s, r] = [0, 1, 3, 1]
// expect: b = 0 everywhere
// run: simulate --stop-time 1
// change: /*other*/ -> when time >= 3*0.1 + 0.7 then n = pre(n) + 1; end when;
// change: when time > 1 then n = pre(n) + 1; end when; -> //
// expect: n = 1
// run: simulate --stop-time 1.5
// expect: [after, at, written, below, up] = [1, 1, 0, 0, 2]
// expect: [n, m, s, r] = [1, 1, 4, 1]
model RelationsAtTheStop
  Boolean b = time > 1, above = time >= 1, until = time <= 1, before = time < 1;
  Real after = if b then 1 else 0, at = if above then 1 else 0, written = if until then 1 else 0, below = if before then 1 else 0, up = ceil(time);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true), s(start = 0, fixed = true), r(start = 0, fixed = true);
equation
  when time > 1 then n = pre(n) + 1; end when;
  /*other*/
  when time >= 1 then m = pre(m) + 1; end when;
  when sample(0, 0.5) then s = pre(s) + 1; end when;
  when terminal() then r = 1; end when;
end RelationsAtTheStop;
