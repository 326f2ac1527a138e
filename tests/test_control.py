"""Optimal control: the examples of examples/control against closed forms and independent formulations; linear-quadratic problems
from a generator against Riccati's equation; what is refused."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
EXAMPLES = SOURCE / "examples/control"


def run(model, *options, command="simulate"):
    """Exit status, the report, the columns, what was said."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        if "\n" in str(model):
            (path / "model.mo").write_text(model)
            model = path / "model.mo"
        files = ["--output-file", str(path / "out.csv"), "--json", str(path / "out.json")] if command == "simulate" else []
        done = subprocess.run([DAEDAL, command, str(model), *files, *map(str, options)], capture_output=True, text=True)
        report = json.loads((path / "out.json").read_text()) if (path / "out.json").exists() else {}
        columns = {}
        if (path / "out.csv").exists():
            with open(path / "out.csv") as file:
                rows = list(csv.DictReader(file))
            columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    return done.returncode, report, columns, done.stderr


def solve(function, guess):
    """A root of two equations in two unknowns by Newton's method with differences."""
    x, y = guess
    for _ in range(60):
        step = 1e-7
        f = function(x, y)
        by_x = [(a - b) / 2 / step for a, b in zip(function(x + step, y), function(x - step, y))]
        by_y = [(a - b) / 2 / step for a, b in zip(function(x, y + step), function(x, y - step))]
        determinant = by_x[0] * by_y[1] - by_x[1] * by_y[0]
        x, y = x - (f[0] * by_y[1] - f[1] * by_y[0]) / determinant, y - (by_x[0] * f[1] - by_x[1] * f[0]) / determinant
    return x, y


class Control(unittest.TestCase):
    def good(self, model, *options):
        code, report, columns, words = run(model, *options)
        self.assertEqual(code, 0, words)
        return report["boundary"]["found"], columns

    def example(self, name, *options):
        return self.good(EXAMPLES / f"{name}.mo", *options)

    def test_brachistochrone(self):
        """A cycloid: 1 - cos(a) = a - sin(a) for the angle of rolling, r = 1/(1 - cos(a)), T = a sqrt(r/g)."""
        angle = 2.4
        for _ in range(50):
            angle -= (1 - math.cos(angle) - angle + math.sin(angle)) / (math.sin(angle) - 1 + math.cos(angle))
        found, _ = self.example("brachistochrone")
        self.assertAlmostEqual(found["T"], angle * math.sqrt(1 / (1 - math.cos(angle)) / 9.81), delta=1e-8)

    def test_regulator(self):
        """Riccati's equation P' = -2 P + P^2 - 1, P(2) = 0: the adjoint is P x."""
        s = math.tanh(math.sqrt(2) * 2)
        found, run = self.example("regulator")
        self.assertAlmostEqual(found["adjoint_x"], s / (math.sqrt(2) - s), delta=1e-8)
        for t, x, u in zip(run["time"], run["x"], run["u"]):
            s = math.tanh(math.sqrt(2) * (2 - t))
            self.assertAlmostEqual(u, -s / (math.sqrt(2) - s) * x, delta=1e-7)

    def test_double_integrator(self):
        found, run = self.example("double_integrator")
        self.assertAlmostEqual(found["T"], 2, delta=1e-8)
        for t, u in zip(run["time"], run["u"]):
            if abs(t - 1) > 1e-6:
                self.assertEqual(u, 1 if t < 1 else -1)

    def test_least_effort(self):
        """5 up to 1/2 - s and -5 from 1/2 + s on, a line between: 10 (1/8 - s^2/6) = 1."""
        s = math.sqrt(6 * (1 / 8 - 1 / 10))
        found, run = self.example("least_effort")
        self.assertAlmostEqual(found["adjoint_x"], -5 / s, delta=1e-7)
        for t, u in zip(run["time"], run["u"]):
            self.assertAlmostEqual(u, max(-5, min(5, (0.5 - t) * 5 / s)), delta=1e-6)

    def test_lander(self):
        """Free fall for a time, then full thrust, by the rocket equation: height and velocity are zero at the end."""
        exhaust, thrust = 2.349, 1.227

        def end(fall, burn):
            k, v = thrust / exhaust, -0.783 - fall
            m = 1 - k * burn
            return (1 - 0.783 * fall - fall**2 / 2 + v * burn - burn**2 / 2 + exhaust / k * (m * math.log(m) + k * burn),
                    v - burn - exhaust * math.log(m))

        fall, burn = solve(end, (0.3, 1))
        found, run = self.example("lander")
        self.assertAlmostEqual(found["T"], fall + burn, delta=1e-8)
        self.assertAlmostEqual(run["m"][-1], 1 - thrust / exhaust * burn, delta=1e-8)

    def test_swing_up(self):
        """The same with the angle: index 1."""
        text = """model Angle
  Real a(start = 0, fixed = true), w(start = 0, fixed = true), u;
  Real adjoint_a(start = 10), adjoint_w(start = 8);
equation
  der(a) = w;
  der(w) = -9.81*sin(a) + u;
minimize
  integral(u^2/2);
final equation
  a = 3.141592653589793;
  w = 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-10));
end Angle;
"""
        found, run = self.example("swing_up")
        angle, other = self.good(text)
        self.assertAlmostEqual(found["adjoint_vx"], angle["adjoint_w"], delta=1e-6)
        self.assertAlmostEqual(found["adjoint_x"], angle["adjoint_a"], delta=1e-6)
        self.assertLess(max(abs(a - b) for a, b in zip(run["u"], other["u"])), 1e-5)

    def test_orbit(self):
        """Bryson and Ho give a radius of 1.525 for these data and T = 3.3194."""
        _, run = self.example("orbit", "--stop-time", "3.3194", "--override", "consumption=0.0749")
        self.assertAlmostEqual(run["r"][-1], 1.525, delta=5e-4)
        self.assertAlmostEqual(run["v"][-1], run["r"][-1]**-0.5, delta=1e-7)

    def test_catenary(self):
        """y = a cosh((x - 1/2)/a) - l with 2 a sinh(1/(2 a)) = 2."""
        low, high = 0.05, 1
        for _ in range(100):
            a = (low + high) / 2
            low, high = (a, high) if a * math.sinh(1 / (2 * a)) > 1 else (low, a)
        found, run = self.example("catenary")
        self.assertAlmostEqual(found["slope"], -math.sinh(1 / (2 * a)), delta=1e-7)
        for t, y in zip(run["time"], run["y"]):
            self.assertAlmostEqual(y, 1 + a * math.cosh((t - 0.5) / a) - a * math.cosh(0.5 / a), delta=1e-7)

    def test_linear_quadratic(self):
        """Two states, one control, terminal cost: the adjoint at the start is P x with P by Riccati's equation (RK4)."""
        for seed in range(6):
            rng = random.Random(seed)
            a = [[rng.uniform(-1, 1) for _ in range(2)] for _ in range(2)]
            b, q, s, r = [rng.uniform(0.5, 1.5) for _ in range(2)], rng.uniform(0.5, 2), rng.uniform(0, 2), rng.uniform(0.5, 2)

            def rate(p):
                """-P' = A'P + P A - P b b' P / r + q I"""
                g = [p[0][0] * b[0] + p[0][1] * b[1], p[1][0] * b[0] + p[1][1] * b[1]]
                return [[sum(a[k][i] * p[k][j] + p[i][k] * a[k][j] for k in range(2)) - g[i] * g[j] / r + (q if i == j else 0)
                         for j in range(2)] for i in range(2)]

            def move(p, d, h):
                return [[p[i][j] + h * d[i][j] for j in range(2)] for i in range(2)]

            p, h = [[s, 0], [0, s]], 1.5 / 3000
            for _ in range(3000):
                k1 = rate(p)
                k2 = rate(move(p, k1, h / 2))
                k3 = rate(move(p, k2, h / 2))
                k4 = rate(move(p, k3, h))
                p = [[p[i][j] + h / 6 * (k1[i][j] + 2 * k2[i][j] + 2 * k3[i][j] + k4[i][j]) for j in range(2)] for i in range(2)]
            text = f"""model Regulator
  Real x(start = 1, fixed = true), y(start = -0.5, fixed = true), u;
equation
  der(x) = ({a[0][0]})*x + ({a[0][1]})*y + {b[0]}*u;
  der(y) = ({a[1][0]})*x + ({a[1][1]})*y + {b[1]}*u;
minimize
  integral({q}/2*(x^2 + y^2) + {r}/2*u^2);
  {s}/2*(x^2 + y^2);
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-9));
end Regulator;
"""
            found, _ = self.good(text)
            for k, name in enumerate(("adjoint_x", "adjoint_y")):
                self.assertAlmostEqual(found[name], p[k][0] - 0.5 * p[k][1], delta=1e-6, msg=text)

    def test_goddard(self):
        """The altitude of Bryson's rocket is 1.01283 (COPS 3.0, problem 10), on a singular arc that no other surface is better than."""
        ends = {}
        for factor in (0.98, 1, 1.02):
            code, report, columns, said = run(EXAMPLES / "goddard.mo", "--override", f"q={factor}")
            self.assertEqual(code, 0, said)
            ends[factor] = columns["h"][-1]
            self.assertEqual([k for k, arc in enumerate(columns["arc"]) if arc == 2][0] > 0, True)
        self.assertEqual(f"{ends[1]:.7g}"[:7], "1.01283")
        self.assertAlmostEqual(ends[1], 1.0128369, delta=5e-8)
        self.assertGreater(ends[1], ends[0.98])
        self.assertGreater(ends[1], ends[1.02])
        fall, rise = ends[1] - ends[0.98], ends[1] - ends[1.02]
        self.assertLess(abs(fall - rise), 0.1 * (fall + rise))  # a parabola with its top there

    def test_singular(self):
        """On the singular arc x = 0, u = 0 the switching function stays zero."""
        text = """model Singular
  Real x(start = 1, fixed = true), u(min = -1, max = 1), adjoint_x(start = 1);
equation
  der(x) = u;
minimize
  integral(x^2/2);
  annotation(experiment(StopTime = 2));
end Singular;
"""
        code, _, _, said = run(text, "--segments", "1")
        self.assertEqual(code, 6)
        self.assertIn("a singular arc, on which switching_u stays zero, is not looked for", said)

    def test_refused(self):
        text = (EXAMPLES / "double_integrator.mo").read_text()
        for change, words in ((("u(min = -1, max = 1)", "u(min = -1)"), "it needs both bounds"),
                              (("der(v) = u;", "der(v) = u;\n  u = 1;"), "no control"),
                              (("der(v) = u;", "der(v) = u*T;"), "write it as a variable with der(T) = 0"),
                              (("minimize", "lagrangian\n  v^2;\nminimize"), "not beside a Lagrangian")):
            code, _, _, said = run(text.replace(*change), command="check")
            self.assertEqual(code, 3, said)
            self.assertIn(words, said)
        code, _, _, said = run(EXAMPLES / "regulator.mo", "--strict", command="check")
        self.assertEqual(code, 3)


if __name__ == "__main__":
    unittest.main()
