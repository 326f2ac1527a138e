model CrankAngle "an engine that is measured once a turn: a clock of events"
  import Modelica.Constants.pi;
  parameter Real a = 8 "acceleration";
  Real phi(start = 0, fixed = true), w(start = 5, fixed = true);
  Integer turns(start = 0);
  Real period "of the last turn", mean "speed over the last turn";
equation
  der(phi) = w;
  der(w) = a;
  when Clock(phi > hold(turns)*2*pi + 2*pi, 0) then
    turns = previous(turns) + 1;
    period = sample(time) - previous(at);
    mean = 2*pi/period;
    at = sample(time);
  end when;
protected
  Real at(start = 0);
  annotation(experiment(StopTime = 3));
end CrankAngle;
