// A jump comes out as a jump, at an event; the integral of the outflow is exact on both sides.
// let: place(t) = t + 0.5*(1 - cos(t))
// let: first_arrival = 0.8354295853198822
// let: second_arrival = 1.4017165608196605
// run: simulate --stop-time 4 --intervals 40 --tolerance 1e-7 --solver {auto,erk,radau,bdf,ida,cvode}
// expect: place(first_arrival) = 1 within 1e-14
// expect: place(second_arrival) = place(0.7) + 1 within 1e-14
// expect: b = (0 if time < first_arrival else 1 if time < second_arrival else -2) within 1e-9 where abs(time - first_arrival) > 1e-4 and abs(time - second_arrival) > 1e-4
// expect: y = max(0, min(time, second_arrival) - first_arrival) - 2*max(0, time - second_arrival) within 2e-5 everywhere
// expect: report.state_events = 2
model M
  Real x(start=0, fixed=true), u, b, y(start=0, fixed=true), a;
equation
  der(x) = 1 + 0.5*sin(time);
  u = if time < 0.7 then 1 else -2;
  (a, b) = spatialDistribution(u, 0, x, true);
  der(y) = b;
end M;
