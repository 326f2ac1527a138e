"""Values set on a run between steps: each is kept, the constraints hold, and the run continues from it; or it is refused by name.
Values are set through the Python package, on linkages and circuits. The variables are states, other coordinates, velocities, forces, aliases and rates.

DAEDAL_TEST_TIER=long sets more of them."""
import os
import pathlib
import random
import sys
import tempfile
import unittest

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])
SANITIZED = os.environ.get("BUILD_KIND") in ("asan", "tsan")
WORK = pathlib.Path(tempfile.mkdtemp())
COUNT = 300 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 25
if not SANITIZED:
    os.environ["DAEDAL_LIBRARY"] = str(BUILD / "libdaedal.so")
    sys.path.insert(0, str(SOURCE / "python"))
    import daedal

PENDULUM = """model M
  parameter Real L = 1, g = 9.81;
  Real x(start = 0.8), y(start = -0.6, fixed = true), vx, vy(start = 0.4, fixed = true), f, nx = -x, E = (vx^2 + vy^2)/2, w = vx;
  discrete Real d(start = 0, fixed = true);
  Boolean low = y < -0.9;
equation
  der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y - g; x^2 + y^2 = L^2;
  when low then d = 1; end when;
end M;"""
TANKS = """model M
  parameter Real k = 0.5;
  Real a(start = 1, fixed = true), b(start = 2, fixed = true), sum = a + b, q, pressure = 3*a, rate = der(a);
equation
  q = k*(b - a); der(a) = q; der(b) = -q - 0.1*b^2;
end M;"""


@unittest.skipIf(SANITIZED, "Python has no sanitizer runtime")
class Values(unittest.TestCase):
    def begin(self, text, **options):
        model = WORK / "m.mo"
        model.write_text(text)
        return daedal.Model(str(model)).plan(stop_time=2, **options).run().start()

    def set(self, text, names, holds, draw, **options):
        """One value, or two that do not contradict each other, at a time of the run."""
        run = self.begin(text, **options)
        run.advance(draw.uniform(0.01, 0.5))
        name = draw.choice(list(names))
        value = (abs if name == "E" else float)(run[name] + draw.choice((-1, 1)) * draw.uniform(0.05, 0.2) * names[name])
        if name in ("x", "y", "nx"):
            value = max(-0.95, min(0.95, value))  # on the circle
        run[name] = value
        self.assertAlmostEqual(run[name], value, delta=1e-7 * (1 + abs(value)), msg=(name, options))
        for left, right in holds(run):
            self.assertAlmostEqual(left, right, delta=1e-7, msg=(name, options))
        run.advance(run.time + 1e-9)
        self.assertAlmostEqual(run[name], value, delta=1e-5 * (1 + abs(value)), msg=(name, options))

    def test_pendulum(self):
        draw = random.Random(1)
        holds = lambda run: ((run["x"]**2 + run["y"]**2, 1), (run["x"] * run["vx"] + run["y"] * run["vy"], 0), (run["nx"], -run["x"]), (run["w"], run["vx"]))
        for _ in range(COUNT):
            self.set(PENDULUM, {"x": 0.5, "y": 0.5, "nx": 0.5, "vx": 1, "vy": 1, "w": 1, "f": 1, "E": 0.1}, holds, draw,
                     solver=draw.choice(("auto", "radau", "bdf")))

    def test_tanks(self):
        draw = random.Random(2)
        holds = lambda run: ((run["sum"], run["a"] + run["b"]), (run["q"], 0.5 * (run["b"] - run["a"])), (run["rate"], run["q"]), (run["pressure"], 3 * run["a"]))
        for _ in range(COUNT):
            self.set(TANKS, {"a": 1, "b": 1, "sum": 1, "q": 1, "pressure": 1, "rate": 1}, holds, draw, solver=draw.choice(("auto", "radau", "bdf", "erk")))

    def test_two_at_once(self):
        run = self.begin(TANKS)
        run.advance(0.3)
        run["sum"], run["q"] = 4, 0.25
        self.assertAlmostEqual(run["a"], 1.75, delta=1e-8)
        self.assertAlmostEqual(run["b"], 2.25, delta=1e-8)

    def test_refused(self):
        """Values that no state can give, and names that do not exist: refused by name."""
        for name, value in (("x", 1.5), ("y", -3), ("E", -1)):
            run = self.begin(PENDULUM)
            run.advance(0.1)
            run[name] = value
            with self.assertRaisesRegex(daedal.Error, rf"{name} cannot be set"):
                run.advance(0.2)
        run = self.begin(PENDULUM)
        run.advance(0.1)
        run["x"], run["y"] = 0.5, 0.5
        with self.assertRaisesRegex(daedal.Error, "[xy] cannot be set"):
            run.advance(0.2)
        for name in ("d", "low", "L", "g"):
            run = self.begin(PENDULUM)
            with self.assertRaisesRegex(daedal.Error, f"{name} cannot be set"):
                run[name] = 1


if __name__ == "__main__":
    unittest.main()
