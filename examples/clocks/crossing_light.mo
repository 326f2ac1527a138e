model CrossingLight "a traffic light as a state machine: it runs through its colours by day and blinks at night"
  inner Integer color(start = 0) "0: dark, 1: green, 2: yellow, 3: red";
  Boolean is_night;
  Day day;
  Night night;

  block Light "shows one color"
    parameter Integer shown;
    outer output Integer color;
  equation
    color = shown;
  end Light;

  block Day
    inner outer output Integer color;
    Light green(shown = 1), yellow(shown = 2), red(shown = 3);
    Integer rounds(start = 0) "since the night";
  equation
    initialState(red);
    transition(red, green, timeInState() >= 4);
    transition(green, yellow, timeInState() >= 5);
    transition(yellow, red, timeInState() >= 1);
    rounds = previous(rounds) + (if activeState(red) and previous(color) == 2 then 1 else 0);
  end Day;

  block Night
    inner outer output Integer color;
    Light dark(shown = 0), yellow(shown = 2);
  equation
    initialState(dark);
    transition(dark, yellow, ticksInState() > 2);
    transition(yellow, dark, ticksInState() > 2);
  end Night;
equation
  is_night = sample(time, Clock(1, 2)) > 18 and sample(time) < 33;
  initialState(day);
  transition(day, night, is_night and color == 3, immediate = false);
  transition(night, day, not is_night, immediate = false);
  annotation(experiment(StopTime = 60));
end CrossingLight;
