// Ways to write one clock give one result.
// run: simulate --stop-time 0.95 --intervals 1
// change: x = previous(x) + sample(time, Clock(1, 10)); -> x = previous(x) + sample(time, Clock(1, 10)); | when Clock(1, 10) then x = previous(x) + sample(time); end when; | x = previous(x) + sample(time, Clock(0.1)); | x = previous(x) + sample(u = time, clock = Clock(intervalCounter = 1, resolution = 10)); | when c then x = previous(x) + sample(time); end when; | x = previous(x) + sample(time, subSample(Clock(1, 30), factor = 3)); | x = previous(x) + sample(time, superSample(Clock(3), 30)); | algorithm when Clock(1, 10) then x := previous(x); x := x + sample(time); end when;
// expect: y = 2 + 4.5 within 5e-10
model M
  Real x(start = 2), y;
  Clock c = Clock(1, 10);
equation
  y = hold(x);
  x = previous(x) + sample(time, Clock(1, 10));
end M;
