// The follower is driven; crank and coupler are in line when the distance of their ends is 1.
// run: simulate --solver {auto,radau}
// expect: exit 6
// expect: report.singular.time = acos(-7 / 8) - 1.6 within 1e-6
// expect: report.singular.rank = 1
// expect: says sin(th) + 2*sin(ph) = 2*sin(w)
model M
  Real th(start = 1.2), ph(start = 0.3), w;
equation
  der(w) = 1;
  cos(th) + 2*cos(ph) = 2 + 2*cos(w);
  sin(th) + 2*sin(ph) = 2*sin(w);
initial equation
  w = 1.6;
  annotation(experiment(StopTime = 3));
end M;
