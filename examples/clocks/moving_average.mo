model MovingAverage "the mean of the last values of a noisy signal, and the same mean delayed by a third of a period"
  parameter Integer n = 4;
  Real u = sin(6*time) + 0.3*sin(170*time);
  Real buffer[n](each start = 0), y, late;
equation
  when Clock(3, 100) then
    buffer = cat(1, {sample(u)}, previous(buffer[1:n - 1]));
    y = sum(buffer)/n;
  end when;
  late = shiftSample(y, 1, 3);
  annotation(experiment(StopTime = 1));
end MovingAverage;
