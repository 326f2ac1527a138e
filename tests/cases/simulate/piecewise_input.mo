// A kink of the rate at a known time: the error stays within the tolerance, and both sides are recorded.
// run: simulate --stop-time 1 --intervals 7 --solver {erk,radau,bdf,ida}
// expect: report.events = 2
// expect: x = 0.3 - 0.8 within 1e-9
// expect: repeated_times = 2
model M
  Real x(start=0, fixed=true);
equation
  der(x) = if time < 0.3 then 1 else if time < 0.7 then -2 else 0;
end M;
