"""Steady states of generated models: no more events happen at them, and stability is reported only if it is known.

DAEDAL_TEST_TIER=long makes more members of each class."""
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = pathlib.Path(tempfile.mkdtemp())
COUNT = 200 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 8


def steady(text, status=0):
    model = WORK / "m.mo"
    model.write_text(text)
    done = subprocess.run([DAEDAL, "steady", str(model), "--json", str(WORK / "o.json"), "-q"], capture_output=True, text=True)
    assert done.returncode == status, (text, done.returncode, done.stderr)
    return done.stderr if status else json.loads((WORK / "o.json").read_text())


class Steady(unittest.TestCase):
    def test_whens(self):
        """A when that fires on the way leaves its value."""
        draw = random.Random(1)
        for _ in range(COUNT):
            first, second, level, k = draw.choice((1, 3)), draw.choice((-1, 0.2)), draw.choice((0.3, 0.7)), draw.choice((0.5, 2))
            found = steady(f"""model M Real x(start = 0, fixed = true); discrete Real a(start = {first}, fixed = true); discrete Integer n(start = 0, fixed = true);
            equation der(x) = {k}*(a - x); when x > {level} then a = {second}; n = pre(n) + 1; end when; end M;""")
            self.assertAlmostEqual(found["values"]["x"], second, delta=1e-9)
            self.assertEqual((found["values"]["a"], found["values"]["n"], found["stability"]), (second, 1, "stable"))

    def test_branches(self):
        """The branch is chosen at the point, not at the start."""
        draw = random.Random(2)
        for _ in range(COUNT):
            a, b, level = draw.choice((2, 5)), draw.choice((3, 4)), draw.choice((0.5, 1))
            found = steady(f"model M Real x(start = 0, fixed = true); equation der(x) = (if x < {level} then {a} else {b}) - x; end M;")
            self.assertAlmostEqual(found["values"]["x"], b, delta=1e-9)

    def test_no_rest(self):
        """Thermostats, samples and bouncing balls have no steady state."""
        draw = random.Random(3)
        for _ in range(COUNT):
            low, high = draw.choice((0.2, 0.4)), draw.choice((0.6, 0.9))
            text, said = draw.choice(((f"Boolean on(start = true, fixed = true); equation der(x) = (if on then 2 else -2) - x; on = x < {low} or (pre(on) and x < {high});", "events do not end"),
                                      (f"equation der(x) = 1 - x; when x > {high} then reinit(x, {low}); end when;", "events do not end"),
                                      (f"discrete Real a(start = 1, fixed = true); equation der(x) = a - x; when sample(0, {low}) then a = {high}*pre(a); end when;", "sample(")))
            self.assertIn(said, steady(f"model M Real x(start = 0, fixed = true); {text} end M;", status=5))

    def test_stability(self):
        """der(x) = -k (x - a)^n: with one state the equation decides its stability; with other states it stays undecided. A slow
        mode is still a mode."""
        draw = random.Random(4)
        for _ in range(COUNT):
            n, k, a = draw.choice((1, 2, 3, 4)), draw.choice((-1, 1, 2, 1e-7)), draw.choice((0, 0.4, -2))
            text = f"Real x(start = {a + 0.3}, fixed = true); equation der(x) = -{k}*(x - ({a}))^{n};"
            found = steady(f"model M {text} end M;")
            expected = "stable" if n % 2 and k > 0 else "unstable"
            self.assertEqual(found["stability"], expected, (n, k, a))
            self.assertAlmostEqual(found["values"]["x"], a, delta=1e-3)
            text = text.replace("equation", "Real y(start = 1, fixed = true); equation der(y) = -y;")
            found = steady(f"model M {text} end M;")
            self.assertEqual(found["stability"], expected if n == 1 else "undecided", (n, k, a))


if __name__ == "__main__":
    unittest.main()
