"""Gradients of simulate by the adjoint, compared with sensitivities: examples of high index, stiff ones, pivots and events, discrete values, integrals, generated models, checkpoints, all
parameters. Some models must be refused.

DAEDAL_GRADIENT_MODELS sets the number of models, 20 by default."""
import json
import random
import unittest

import varied_models
from varied_models import DISCRETE, INITIAL, SAMPLED, SOURCE, WORK

COUNT = varied_models.count("DAEDAL_GRADIENT_MODELS", 20)


def simulate(model, *options, status=0, tolerance="1e-9"):
    said = varied_models.simulate(model, "--json", str(WORK / "o.json"), "--tolerance", tolerance, "--intervals", "1", *options, status=status)
    return said if status else json.loads((WORK / "o.json").read_text())


class Gradient(unittest.TestCase):
    def compare(self, expected, found, accuracy, what):
        size = max(map(abs, expected.values())) or 1
        self.assertEqual(list(found), list(expected))
        for target, value in expected.items():
            self.assertLessEqual(abs(found[target] - value), accuracy * size, (what, target))

    def check(self, model, targets, functionals, *options, solvers=("auto",), accuracy=1e-6, tolerance="1e-9"):
        for solver in solvers:
            final = simulate(model, *options, "--solver", solver, "--sensitivity", ",".join(targets), tolerance=tolerance)["final"]
            for name in functionals:
                expected = {target: final[f"der({name}, {target})"] for target in targets}
                for memory in ("256", "0.0001"):
                    gradient = simulate(model, *options, "--solver", solver, "--gradient", name, "--gradient-by", ",".join(targets),
                                        "--gradient-memory", memory, tolerance=tolerance)["gradient"]
                    self.assertAlmostEqual(gradient["value"], final[name], delta=1e-8 * max(1, abs(final[name])))
                    self.compare(expected, gradient["derivatives"], accuracy, (solver, name, memory))

    def example(self, name, targets, functionals, *options, **keywords):
        self.check(SOURCE / "examples" / name, targets, functionals, *options, **keywords)

    def integral(self, text, targets, name, *options, accuracy=1e-6):
        """Compares with the sensitivities of a state that is the integral."""
        head, body = text.split("equation\n", 1)
        state = f"{head}Real total(start = 0, fixed = true); equation\n der(total) = {name};\n{body}"
        final = simulate(state, *options, "--sensitivity", ",".join(targets))["final"]
        gradient = simulate(text, *options, "--gradient", f"integral({name})", "--gradient-by", ",".join(targets))["gradient"]
        self.assertAlmostEqual(gradient["value"], final["total"], delta=1e-7 * max(1, abs(final["total"])))
        self.compare({target: final[f"der(total, {target})"] for target in targets}, gradient["derivatives"], accuracy, name)

    def test_pendulum(self):
        """Index 3, through pivots."""
        self.example("pendulum.mo", ["L", "g", "y.start"], ["x", "lambda"], "--stop-time", "3", solvers=("auto", "erk", "bdf"))

    def test_double_pendulum(self):
        self.example("double_pendulum.mo", ["g"], ["x2"], "--stop-time", "2")

    def test_slider_crank(self):
        self.example("slider_crank.mo", ["r", "J", "m"], ["s"], "--stop-time", "1")

    def test_akzo_nobel(self):
        self.example("chemakzo.mo", ["k1", "klA", "y1.start"], ["y1", "y6"])

    def test_amplifier(self):
        """With auto, the first steps of the run are explicit, but the first steps of its sensitivities are not. The reference has an error of 9e-5 at
        1e-8, which falls by ten with each decade."""
        self.example("transamp.mo", ["R", "Ub", "C1"], ["U8"], "--stop-time", "0.05", solvers=("radau", "auto"), tolerance="1e-10")

    def test_bouncing_ball(self):
        self.example("events/bouncing_ball.mo", ["e", "g", "h.start"], ["h", "v"], "--stop-time", "1.5")

    def test_rectifier(self):
        self.example("events/rectifier.mo", ["R", "C", "amplitude"], ["v"], "--stop-time", "0.045")

    def test_discrete_values(self):
        self.check(SAMPLED, ["k", "T", "x.start", "s.start"], ["x", "u", "s"], "--stop-time", "0.95")
        self.check(DISCRETE, ["a", "level", "x.start"], ["x", "at", "rate"], "--stop-time", "2")

    def test_initial_equations(self):
        self.check(INITIAL, ["a", "d"], ["x", "y"], "--stop-time", "1")

    def test_integrals(self):
        for name in ("x", "u"):
            self.integral(SAMPLED, ["k", "T", "x.start", "s.start"], name, "--stop-time", "0.95")
        for name in ("y", "rate"):
            self.integral(DISCRETE, ["a", "level", "x.start"], name, "--stop-time", "2")

    def test_generated(self):
        """Points on curves."""
        draw = random.Random(5)
        for _ in range(COUNT):
            text, targets = varied_models.draw_curve(draw)
            self.check(text, list(targets), [draw.choice(("x", "v", "l", "w", "q", "der(w)"))], "--stop-time", "0.6",
                       solvers=(draw.choice(("auto", "erk", "bdf")),), accuracy=3e-6)

    def test_balls(self):
        """The integrated signals jump."""
        draw = random.Random(11)
        for _ in range(COUNT // 4):
            text, targets = varied_models.draw_ball(draw)
            self.check(text, list(targets), [draw.choice(("h", "v", "lost"))], "--stop-time", "1.1", accuracy=3e-6, solvers=(draw.choice(("erk", "radau")),))
            self.integral(text, list(targets), draw.choice(("h", "v", "lost")), "--stop-time", "1.1", accuracy=3e-6)

    def test_checkpoints(self):
        """A long run in little memory has the same gradient as one that keeps everything."""
        options = ("--gradient", "x", "--gradient-by", "L,g", "--stop-time", "10")
        whole, little = (simulate(SOURCE / "examples/pendulum.mo", *options, "--gradient-memory", memory)["gradient"] for memory in ("256", "0.01"))
        self.assertEqual(whole["value"], little["value"])
        self.compare(whole["derivatives"], little["derivatives"], 1e-6, "memory")

    def test_by_everything(self):
        text = """model M
          parameter Real a = 2, b = 2*a, n[2] = {1, 2}; parameter Integer k = 2; final parameter Real f = 3;
          Real x(start = a, fixed = true), y(start = 1), z = -x;
        equation
          der(x) = -b*x + n[1]*y; der(y) = -k*y + f*n[2]*x;
        initial equation
          y = b;
        end M;"""
        found = simulate(text, "--gradient", "z")["gradient"]["derivatives"]
        self.assertEqual(list(found), ["a", "b", "n[1]", "n[2]", "x.start"])

    def test_refused(self):
        plain = "model M parameter Real k = 2; parameter Integer n = 1; Real x(start = 1, fixed = true), c = k; equation der(x) = -k*n*x; end M;"
        for model, options, status, words in (
                (plain, ("--gradient", "q"), 2, "'q' is not a signal"), (plain, ("--gradient", "c"), 2, "'c' is not a signal that varies in the run"),
                (plain, ("--gradient", "x", "--gradient-by", "n"), 2, "it is not a Real"),
                (plain, ("--gradient", "x", "--sensitivity", "k"), 2, "either sensitivities or a gradient"),
                (plain.replace("equation", "equation when x < 0.5 then terminate(\"enough\"); end when;"), ("--gradient", "x"), 6, "before its stop time"),
                (plain.replace("c = k", "c = delay(x, 0.1)"), ("--gradient", "x"), 2, "delays")):
            self.assertIn(words, simulate(model, *options, status=status))


if __name__ == "__main__":
    unittest.main()
