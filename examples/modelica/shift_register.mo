package ShiftRegister "a chain of memories with one clock: Boolean signals through an array of blocks"
  connector BooleanInput = input Boolean;
  connector BooleanOutput = output Boolean;

  block Clock
    BooleanOutput y;
    parameter Real period = 1;
  equation
    y = sample(period, period);
  end Clock;

  block Flipflop
    BooleanInput clock, d;
    BooleanOutput q(start = false, fixed = true);
  equation
    when clock then
      q = pre(d);
    end when;
  end Flipflop;

  block Pattern
    BooleanOutput y = integer(time) < 1 or integer(time) == 3;
  end Pattern;

  model Register
    parameter Integer n = 4;
    Clock clock;
    Pattern pattern;
    Flipflop bit[n];
    Integer count = sum(if bit[i].q then 1 else 0 for i in 1:n);
  equation
    for i in 1:n loop
      connect(clock.y, bit[i].clock);
    end for;
    connect(pattern.y, bit[1].d);
    connect(bit[1:n - 1].q, bit[2:n].d);
    annotation(experiment(StopTime = 6.5));
  end Register;
end ShiftRegister;
