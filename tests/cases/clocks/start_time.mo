// run: simulate --intervals 1
// expect: n = 1 at 0.05
// expect: time = 0.05 within 5e-10 at 0.05
// expect: n = 2 at 0.15
// expect: time = 0.15 within 5e-10 at 0.15
// expect: n = 3 at 0.25
// expect: time = 0.25 within 5e-10 at 0.25
// expect: time = 0.05 within 5e-10 at 0.14
// expect: time = 0.15 within 5e-10 at 0.24
// expect: n = 10
model M
  Integer n(start = 0);
equation
  when Clock(1, 10) then
    n = previous(n) + 1;
  end when;
  annotation(experiment(StartTime = 0.05, StopTime = 1));
end M;
