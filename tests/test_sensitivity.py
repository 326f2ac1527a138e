"""Sensitivities of simulate compared with differences of accurate runs: examples of high index, stiff ones, pivots and events, initial equations, free parameters, generated models. It also tests names and refusals.

DAEDAL_SENSITIVITY_MODELS sets the number of models, 12 by default."""
import csv
import random
import unittest

import varied_models
from varied_models import DISCRETE, INITIAL, SAMPLED, SLOW, SOURCE, TRAJECTORY, WORK

COUNT = varied_models.count("DAEDAL_SENSITIVITY_MODELS", 12)
SOLVERS = ("auto",) if SLOW else ("auto", "radau", "erk", "bdf")


def simulate(model, *options, status=0):
    said = varied_models.simulate(model, *options, status=status)
    if status:
        return said
    with open(TRAJECTORY) as file:
        rows = list(csv.reader(file))
    return {name: [float(row[c]) for row in rows[1:]] for c, name in enumerate(rows[0])}


def difference(model, target, value, options, step):
    """Derivatives of all signals by differences of fourth order."""
    name = target.removesuffix(".start")
    runs = {k: simulate(model, *options, "--tolerance", "1e-12", "--override", f"{name}={value + k * step!r}")
            for k in (-2, -1, 1, 2)}
    return {signal: [(8 * (b - a) - (d - c)) / (12 * step)
                     for a, b, c, d in zip(runs[-1][signal], runs[1][signal], runs[-2][signal], runs[2][signal])]
            for signal in runs[1] if signal != "time"}, runs[1]


class Sensitivity(unittest.TestCase):
    def check(self, model, targets, *options, solvers=SOLVERS, step=1e-3, accuracy=1e-6, ignore=()):
        """targets: names with their values. Errors are relative to the largest derivative, or to a hundredth of signal divided by target, because a signal is accurate relative to its size."""
        options = (*options, "--intervals", "12", "--no-event-rows")
        expected = {target: difference(model, target, value, options, step * (abs(value) or 1))
                    for target, value in targets.items()}
        for solver in solvers:
            found = simulate(model, *options, "--tolerance", "1e-9", "--solver", solver, "--sensitivity",
                             ",".join(targets))
            for target, (slopes, values) in expected.items():
                for signal, slope in slopes.items():
                    if signal in ignore:
                        continue
                    size = max(max(map(abs, slope)), 0.01 * max(map(abs, values[signal])) / (abs(targets[target]) or 1))
                    error = max(abs(a - b) for a, b in zip(slope, found[f"der({signal}, {target})"]))
                    self.assertLessEqual(error, accuracy * size, (solver, target, signal))

    def example(self, name, targets, *options, **keywords):
        self.check(SOURCE / "examples" / name, targets, *options, **keywords)

    def test_pendulum(self):
        """Index 3, through pivots."""
        self.example("pendulum.mo", {"L": 1, "g": 9.81, "y.start": 0}, "--stop-time", "3")

    def test_double_pendulum(self):
        self.example("double_pendulum.mo", {"g": 9.81}, "--stop-time", "2", ignore=("E",), step=1e-4)

    def test_slider_crank(self):
        self.example("slider_crank.mo", {"r": 0.5, "J": 0.3}, "--stop-time", "1", ignore=("E",))

    def test_akzo_nobel(self):
        """Amounts of gas are small compared with the absolute tolerance: they are checked separately."""
        gas = ("y2", "der(y2)", "Fin")
        self.example("chemakzo.mo", {"k1": 18.7, "klA": 3.3, "y1.start": 0.444}, solvers=("auto", "radau"), ignore=gas,
                     step=5e-3, accuracy=3e-6)
        self.example("chemakzo.mo", {"k1": 18.7, "y1.start": 0.444}, solvers=("radau",), accuracy=1e-3)

    def test_amplifier(self):
        self.example("transamp.mo", {"R": 9000, "Ub": 6}, "--stop-time", "0.05", solvers=("auto", "radau"), step=5e-4,
                     accuracy=2e-6)

    def test_bouncing_ball(self):
        self.example("events/bouncing_ball.mo", {"e": 0.8, "g": 9.81, "h.start": 1}, "--stop-time", "1.5", step=1e-4)

    def test_rectifier(self):
        self.example("events/rectifier.mo", {"R": 10, "C": 1e-3, "amplitude": 10}, "--stop-time", "0.045", step=1e-4)

    def test_sampled_controller(self):
        self.check(SAMPLED, {"k": 2, "T": 0.3, "x.start": 1}, "--stop-time", "0.95")

    def test_discrete_state(self):
        self.check(DISCRETE, {"a": 1.3, "level": 0.4}, "--stop-time", "2", step=1e-4)

    def test_initial_equations(self):
        self.check(INITIAL, {"a": 2, "d": 0.3}, "--stop-time", "1")

    def test_bound_parameters(self):
        text = """model M
          parameter Real a = 2, b = a^2, c = b + 1;
          Real x(start = c, fixed = true), z = 3*b;
        equation
          der(x) = -b*x + sin(c*time);
        end M;"""
        self.check(text, {"a": 2}, "--stop-time", "1")
        found = simulate(text, "--override", "b=5,c=3", "--sensitivity", "a")
        self.assertEqual(found["der(x, a)"], [0.0] * len(found["time"]))

    def test_generated(self):
        """Points on curves."""
        draw = random.Random(7)
        for number in range(COUNT):
            text, targets = varied_models.draw_curve(draw)
            self.check(text, targets, "--stop-time", "0.6", solvers=(SOLVERS[number % len(SOLVERS)],), step=1e-4, accuracy=2e-6)

    def test_balls(self):
        draw = random.Random(11)
        for _ in range(COUNT // 4):
            text, targets = varied_models.draw_ball(draw)
            self.check(text, targets, "--stop-time", "1.1", step=1e-5, solvers=("auto",), accuracy=1e-5)

    def test_bands(self):
        picture = WORK / "p.svg"
        simulate(SOURCE / "examples/pendulum.mo", "--sensitivity", "L,g", "--plot", str(picture), "--plot-bands", "L=0.01, g=0.05",
                 "--plot-variables", "x,y", "--stop-time", "1")
        self.assertEqual(picture.read_text().count("fill-opacity"), 2)
        self.assertIn("no sensitivity of x with respect to `q`", simulate(SOURCE / "examples/pendulum.mo", "--sensitivity", "L", "--plot",
                                                             str(picture), "--plot-bands", "q=1", "--plot-variables", "x",
                                                             status=2))

    def test_refusals(self):
        guessed = (SOURCE / "examples/pendulum.mo").read_text().replace("x(start = 1)", "x(start = 0.8)").replace(
            "y(start = 0, fixed = true)", "y(start = 0.8)")
        self.assertIn("guess", simulate(guessed, "--sensitivity", "L", status=5))
        self.assertIn("method dummy", simulate(SOURCE / "examples/pendulum.mo", "--method", "projection", "--sensitivity", "L",
                                               status=2))


if __name__ == "__main__":
    unittest.main()
