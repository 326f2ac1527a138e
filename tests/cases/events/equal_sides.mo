// Both sides of the relation are equal up to round-off at any time: there is no event, and the run ends.
// run: simulate --solver {erk,radau}
// change: RELATION -> sqrt((1 + time/5)/(2 + time/7)) <= sqrt(1 + time/5)/sqrt(2 + time/7) | sin(2*time + 2) <= 2*sin(time + 1)*cos(time + 1) | exp(time/3)*exp(1 + time/5) <= exp(1 + time/3 + time/5)
// expect: report.time_events = 0
// expect: y = 1 + time within 1e-12 everywhere
model EqualSides
  Real y = if RELATION then 1 + time else 1.0000000000001 + time;
end EqualSides;
