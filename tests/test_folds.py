"""Positive feedback around a limit: triggers and relaxation oscillators with an amplifier of finite gain, drawn by a generator, jump where
their branch of the solution ends at a corner, at times in closed form. At a smooth fold the solution ends. DAEDAL_FOLD_MODELS widens the
test: so many models are drawn, 12 without it."""
import csv
import io
import math
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_FOLD_MODELS", "12"))
SOLVERS = ("auto", "erk")


def simulate(text, *options):
    path = os.path.join(WORK, "model.mo")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    command = [DAEDAL, "simulate", path, "--output-file", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return done, rows[0] if rows else [], [list(map(float, row)) for row in rows[1:]]


def jumps(names, rows):
    """Times at which the output changes its sign."""
    k = names.index("out")
    return [b[0] for a, b in zip(rows, rows[1:]) if a[k] * b[k] < 0]


def declarations(rng):
    gain, limit, share = 10 ** rng.uniform(2, 4), rng.uniform(3, 15), rng.uniform(0.2, 0.6)
    limited = "if gain*v > limit then limit else if gain*v < -limit then -limit else gain*v"
    return gain, limit, share, rng.choice(("noEvent({})", "smooth(0, noEvent({}))", "smooth(0, {})")).format(limited)


def trigger(rng):
    """The output is fed back to the input, which rises and falls."""
    gain, limit, share, amplifier = declarations(rng)
    speed = rng.uniform(5, 20)
    text = f"""model trigger
  parameter Real gain = {gain!r}, limit = {limit!r}, k = {share!r};
  Real u = 2*limit*cos({speed!r}*time), v, out(start = {limit!r});
equation
  v = (1 - k)*u + k*out;
  out = {amplifier};
  annotation(experiment(StopTime = 2));
end trigger;
"""
    edge = (limit * share - limit / gain) / (1 - share) / (2 * limit)  # of -cos
    expected, turn = [], 0
    while True:
        base = math.acos(-edge) if turn % 2 == 0 else 2 * math.pi - math.acos(edge)
        t = (base + 2 * math.pi * (turn // 2)) / speed
        if t >= 2:
            return text, expected
        if edge < 1:
            expected.append(t)
        turn += 1


def oscillator(rng):
    """A condenser is charged by the output, which its voltage turns."""
    gain, limit, share, amplifier = declarations(rng)
    delay = rng.uniform(0.05, 0.3)
    text = f"""model oscillator
  parameter Real gain = {gain!r}, limit = {limit!r}, k = {share!r}, T = {delay!r};
  Real c(start = 0, fixed = true), v, out(start = {limit!r});
equation
  v = k*out - c;
  out = homotopy({amplifier}, limit);
  T*der(c) = out - c;
  annotation(experiment(StopTime = 2));
end oscillator;
"""
    edge = share * limit - limit / gain
    first, period = delay * math.log(limit / (limit - edge)), delay * math.log((limit + edge) / (limit - edge))
    expected = []
    while first < 2:
        expected.append(first)
        first += period
    return text, expected


class Folds(unittest.TestCase):
    def check(self, draw):
        rng = random.Random(14)
        for _ in range(COUNT):
            text, expected = draw(rng)
            for solver in SOLVERS:
                done, names, rows = simulate(text, "--solver", solver)
                self.assertEqual(done.returncode, 0, f"{text} with {solver}\n{done.stderr}")
                found = jumps(names, rows)
                self.assertEqual(len(found), len(expected), f"{text} with {solver}: {found}, not {expected}")
                for a, b in zip(found, expected):
                    self.assertAlmostEqual(a, b, delta=2e-3, msg=f"{text} with {solver}")
                if expected:
                    self.assertIn("jumps from", done.stderr)

    def test_trigger(self):
        self.check(trigger)

    def test_oscillator(self):
        self.check(oscillator)

    def test_smooth_fold_ends_the_run(self):
        done, _, _ = simulate("model fold\n  Real y(start = -2);\nequation\n  y^3 - 3*y = 4*time - 4;\nend fold;\n",
                              "--stop-time", "2")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("singular", done.stderr)


if __name__ == "__main__":
    unittest.main()
