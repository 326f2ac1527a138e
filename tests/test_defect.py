"""Features that a step misses at its own points, and that the defect of its polynomials shows.

Right-hand sides that jump without a condition (a function with `while`, a table of steps), diodes whose current is an exponential of a
voltage between stages, and outputs that amplify interpolated states. Jumps and amplifiers have closed forms; rectifiers are
compared with a run of another method at a tight tolerance. A run may be refused, but must never be wrong."""
import math
import os
import random
import unittest

from runs import IS_WIDE, Tally, by_turns, seeds, simulate

IS_LONG = IS_WIDE or os.environ.get("DAEDAL_TEST_TIER") == "long"
SOLVERS = ("auto", "erk", "radau", "bdf", "ida", "cvode")

STEPS = """model Steps
  function f
    input Real u;
    output Real y;
  protected
    Real b[{count}] = {{{bounds}}};
    Real v[{values}] = {{{heights}}};
    Integer k;
  algorithm
    k := 1;
    while k <= {count} and u > b[min(k, {count})] loop
      k := k + 1;
    end while;
    y := v[k];
  end f;
  Real x(start = {start!r}, fixed = true);
equation
  der(x) = {right};
  annotation(experiment(StopTime = {stop!r}));
end Steps;
"""


class Steps:
    """A table of steps, of the time or of the state."""

    def __init__(self, rng):
        count = rng.randint(1, 6)
        self.stop = rng.choice([1.0, 10.0, 100.0])
        self.of_state = rng.random() < 0.4
        self.rate = 0.0 if self.of_state else rng.choice([0.0, -1.0, -0.3, -5.0])
        self.start = rng.uniform(-1, 1)
        self.values = [rng.uniform(0.2, 3)/self.stop if self.of_state else rng.uniform(-3, 3) for _ in range(count + 1)]
        if self.of_state:
            self.bounds = sorted(self.start + rng.uniform(0.05, 2) for _ in range(count))
        elif rng.random() < 0.5:  # pulses
            places = (count + 1)//2  # each pulse in its own part of the run, and at least two hundredths of it wide
            width = self.stop*10**rng.uniform(math.log10(0.02), -1)
            self.bounds = []
            for k in range(places):
                begin = self.stop*(k + rng.uniform(0.05, 0.6))/places
                self.bounds += [begin, begin + width]
            self.values = [rng.choice([0, rng.uniform(-3, 3)]) for _ in range(len(self.bounds) + 1)]
        else:
            self.bounds = sorted(rng.uniform(0, self.stop) for _ in range(count))

    def text(self):
        right = "f(x)" if self.of_state else f"f(time) + ({self.rate!r})*x"
        return STEPS.format(count=len(self.bounds), values=len(self.values), bounds=", ".join(map(repr, self.bounds)),
                            heights=", ".join(map(repr, self.values)), start=self.start, right=right, stop=self.stop)

    def at(self, t):
        return self.at_of_state(t) if self.of_state else self.at_of_time(t)

    def at_of_state(self, t):
        x, now = self.start, 0.0
        for bound, value in zip(self.bounds + [math.inf], self.values):
            left = (bound - x)/value
            if now + left >= t:
                return x + value*(t - now)
            x, now = bound, now + left
        return x

    def at_of_time(self, t):
        x, now = self.start, 0.0
        for bound, value in zip(self.bounds + [math.inf], self.values):
            span = min(bound, t) - now
            if self.rate:
                x = (x + value/self.rate)*math.exp(self.rate*span) - value/self.rate
            else:
                x += value*span
            now = min(bound, t)
        return x

    def size(self):
        return 1 + max(abs(self.at(self.stop*k/50)) for k in range(51))


RECTIFIER = """model Rectifier
  parameter Real Is = {saturation!r}, Vt = {thermal!r}, R = {resistance!r}, C = {capacitance!r}, Rs = {series!r}, w = {omega!r};
  Real v(start = 0, fixed = true), u, i;
equation
  u = {amplitude!r}*sin(w*time);
  i = Is*(exp((u - v - Rs*i)/Vt) - 1);
  C*der(v) = i - v/R;
  annotation(experiment(StopTime = {stop!r}));
end Rectifier;
"""

PLAIN_RECTIFIER = """model Rectifier
  parameter Real Is = {saturation!r}, Vt = {thermal!r}, R = {resistance!r}, C = {capacitance!r}, w = {omega!r};
  Real v(start = 0, fixed = true), u;
equation
  u = {amplitude!r}*sin(w*time);
  C*der(v) = Is*(exp((u - v)/Vt) - 1) - v/R;
  annotation(experiment(StopTime = {stop!r}));
end Rectifier;
"""


def rectifier(rng):
    period = 10**rng.uniform(-4, 0)
    values = {"saturation": 10**rng.uniform(-14, -8), "thermal": rng.uniform(0.024, 0.05), "resistance": 10**rng.uniform(1, 4),
              "amplitude": rng.choice([1.0, 2.0, 3.0, 5.0]), "omega": 2*math.pi/period, "stop": period*rng.choice([1.3, 2.3, 4.3])}
    values["capacitance"] = period*10**rng.uniform(-1, 1)/values["resistance"]
    values["series"] = 10**rng.uniform(-3, 1)
    return rng.choice([RECTIFIER, PLAIN_RECTIFIER]).format(**values), values["amplitude"]


AMPLIFIER = """model Amplifier
  parameter Real gain = {gain!r}, w = {omega!r};
  Real x(start = 0, fixed = true), e, y;
equation
  der(x) = {rate!r}*(sin(w*time) - x);
  e = x - ({wave});
  y = gain*e;
  annotation(experiment(StopTime = {stop!r}));
end Amplifier;
"""


def amplifier(rng):
    """y is the amplified error of x: the difference between x and its closed form."""
    omega, rate = 10**rng.uniform(-0.5, 1), 10**rng.uniform(-1, 1.5)
    size = rate/(rate*rate + omega*omega)
    wave = f"{size!r}*({rate!r}*sin(w*time) - w*cos(w*time) + w*exp(-{rate!r}*time))"
    gain = 10**rng.uniform(3, 6)
    return AMPLIFIER.format(gain=gain, omega=omega, rate=rate, wave=wave, stop=10/omega), gain


class Defect(unittest.TestCase):
    def test_steps(self):
        tally = Tally("steps in functions")
        # in the last one a step ends right before a jump, because the step before was rejected
        for seed in [*seeds(150 if IS_LONG else 6), 1010]:
            rng = random.Random(seed)
            model = Steps(rng)
            for tolerance in by_turns((1e-4, 1e-6), seed):
                for solver in by_turns(SOLVERS, seed//2):
                    run = simulate(model.text(), solver=solver, tolerance=tolerance, intervals=20)
                    miss = max(abs(x - model.at(t)) for t, x in zip(run.columns["time"], run.columns["x"])) if run.status == 0 else 0
                    tally.add(run, lambda miss=miss, tolerance=tolerance: miss <= 100*tolerance*model.size(),
                              "seed", seed, solver, tolerance, "missed by", miss)
        tally.check(self)

    def test_rectifiers(self):
        tally = Tally("rectifiers")
        for seed in seeds(60 if IS_LONG else 2):
            text, size = rectifier(random.Random(seed))
            fine = simulate(text, solver="bdf", tolerance=1e-10, intervals=200)
            other = simulate(text, solver="ida", tolerance=1e-10, intervals=200)
            if fine.status or other.status:
                tally.add_refused(fine if fine.status else other, "seed", seed, "reference")
                continue
            self.assertLess(max(abs(a - b) for a, b in zip(fine.columns["v"], other.columns["v"])), 1e-6*size)
            for tolerance in by_turns((1e-3, 1e-4, 1e-6, 1e-8) if IS_LONG else (1e-4, 1e-6, 1e-8), seed):
                for solver in by_turns(("auto", "radau", "erk", "bdf", "ida", "cvode"), seed//4):
                    run = simulate(text, solver=solver, tolerance=tolerance, intervals=200)
                    miss = max(abs(a - b) for a, b in zip(run.columns["v"], fine.columns["v"])) if run.status == 0 else 0
                    tally.add(run, lambda miss=miss, tolerance=tolerance: miss <= 100*tolerance*size,
                              "seed", seed, solver, tolerance, "missed by", miss)
        tally.check(self)

    def test_amplified_outputs(self):
        tally = Tally("amplified outputs")
        for seed in seeds(60 if IS_LONG else 3):
            text, gain = amplifier(random.Random(seed))
            for tolerance in by_turns((1e-4, 1e-6), seed):
                for solver in by_turns(SOLVERS, seed//2):
                    run = simulate(text, solver=solver, tolerance=tolerance, intervals=300)
                    miss = max(map(abs, run.columns["y"])) if run.status == 0 else 0
                    tally.add(run, lambda miss=miss, tolerance=tolerance: miss <= 100*tolerance*gain,
                              "seed", seed, solver, tolerance, "missed by", miss, "gain", gain)
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
