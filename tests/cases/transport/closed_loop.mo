// A pipe that is bent to a ring keeps its contents: sums over rounds are constant.
// let: contents(y) = 1 + 10*y if y <= 0.2 else 3 - (y - 0.2)/0.3 if y <= 0.5 else 2*(y - 0.5)
// let: place = -x % 1
// run: simulate --stop-time 6 --intervals 60 --tolerance 1e-7 --solver {erk,radau,bdf}
// expect: b = contents(place) within 1e-5 where min(place, abs(place - 0.2), abs(place - 0.5), 1 - place) > 1e-5
model M
  Real x(start=0, fixed=true), a, b, y(start=0, fixed=true);
equation
  der(x) = 1 + 0.3*cos(time);
  (a, b) = spatialDistribution(b, a, x, true, {0, 0.2, 0.5, 0.5, 1}, {1, 3, 2, 0, 1});
  der(y) = b*der(x);
end M;
