model AdaptiveSampling "a clock that sets its own interval: short while the signal moves, long while it rests"
  Real u = if time < 1 then 1 - exp(-5*time) else 1 - exp(-5)*cos(8*(time - 1));
  Real interval(start = 0.05), y(start = 0);
equation
  when Clock(interval) then
    y = sample(u);
    interval = min(0.4, max(0.02, 0.01/(abs(y - previous(y)) + 0.02)));
  end when;
  annotation(experiment(StopTime = 2));
end AdaptiveSampling;
