// sqrt of a state that passes zero: the run stops there, says why, and keeps the trajectory.
// run: simulate --stop-time 3
// expect: exit 6
// expect: says sqrt(x)
// expect: rows > 10
// expect: report.status = "integration"
model M
  Real x(start=1, fixed=true);
equation
  der(x) = -1 - sqrt(x);
end M;
