"""Equations derived from an energy: every example of examples/energy against a closed form, an independent formulation or a
conserved quantity; the balance of energy; generated Lagrangians in two systems of coordinates. Single models are in cases/energy, refusals in cases/errors."""
import cmath
import csv
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
EXAMPLES = SOURCE / "examples/energy"
COUNT = int(os.environ.get("DAEDAL_ENERGY_MODELS", "12"))  # number of generated models; raise it by hand for more


def daedal(command, model, *options):
    """Exit status, output, messages, the trajectory by name. `model` is a path or a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        if "\n" in str(model):
            (path / "model.mo").write_text(model)
            model = path / "model.mo"
        files = ["--output-file", str(path / "out.csv")] if command == "simulate" else []
        run = subprocess.run([DAEDAL, command, str(model), *files, *map(str, options)], capture_output=True, text=True)
        columns = {}
        if (path / "out.csv").exists():
            with open(path / "out.csv") as file:
                rows = list(csv.DictReader(file))
            columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    return run.returncode, run.stdout, run.stderr, columns


def simulate(model, *options):
    code, _, words, columns = daedal("simulate", model, *options)
    if code:
        raise AssertionError(f"exit {code}: {words}")
    return columns


def difference(a, b):
    if len(a) != len(b):
        raise AssertionError(f"{len(a)} and {len(b)} rows")
    return max(abs(x - y) for x, y in zip(a, b))


class Examples(unittest.TestCase):
    def same(self, a, b, names, bar):
        """names: those of the signals, or pairs of names if they differ."""
        for name in names:
            first, second = name if isinstance(name, tuple) else (name, name)
            self.assertLess(difference(a[first], b[second]), bar, name)

    def test_balance(self):
        for path in sorted(EXAMPLES.glob("*.mo")):
            with self.subTest(path.stem):
                run = simulate(path, "--energy", "--tolerance", "1e-8")
                total, dissipated, supplied = (run[f"energy.{part}"] for part in ("total", "dissipated", "supplied"))
                largest = max(abs(t) + abs(d) + abs(s) for t, d, s in zip(total, dissipated, supplied))
                self.assertLess(max(map(abs, run["energy.balance"])), 1e-6 * largest)

    def test_pendulum(self):
        run = simulate(EXAMPLES / "pendulum.mo", "--energy")
        self.same(run, simulate(SOURCE / "examples/pendulum.mo", "--stop-time", "5", "--tolerance", "1e-8"), ["x", "y"], 1e-5)
        for x, y, tension_x, tension_y, vx, vy in zip(run["x"], run["y"], run["G_T_lambda.x"], run["G_T_lambda.y"],
                                                      run["der(x)"], run["der(y)"]):
            pull = vx**2 + vy**2 - 9.81 * y
            self.assertAlmostEqual(tension_x, -pull * x, delta=1e-5)
            self.assertAlmostEqual(tension_y, -pull * y, delta=1e-5)

    def test_double_pendulum(self):
        run = simulate(EXAMPLES / "double_pendulum.mo")
        angles = simulate(EXAMPLES / "double_pendulum_angles.mo")
        angles["x2"] = [math.cos(a) + math.cos(b) for a, b in zip(angles["a1"], angles["a2"])]
        self.same(run, angles, ["x2"], 1e-4)
        self.same(run, simulate(SOURCE / "examples/double_pendulum.mo"), ["x1", "y1", "x2", "y2"], 1e-4)

    def test_triple_pendulum(self):
        other = simulate(SOURCE / "examples/triple_pendulum.mo", "--stop-time", "2", "--tolerance", "1e-8")
        self.same(simulate(EXAMPLES / "triple_pendulum.mo"), other, [(f"x[{i}]", f"x{i}") for i in (1, 2, 3)], 1e-4)

    def test_spherical_pendulum(self):
        run = simulate(EXAMPLES / "spherical_pendulum.mo")
        self.assertLess(difference(run["A"], [0.8] * len(run["A"])), 1e-6)

    def test_slider_crank(self):
        """If the angle of the rod and the slider are explicit functions of the crank, there is one coordinate and no multiplier."""
        text = (EXAMPLES / "slider_crank.mo").read_text()
        text = text.replace('psi(start = -0.14) "angle of the rod", s(start = 1.2);', "psi, s;")
        text = text.replace("equation\n  x2", "equation\n  psi = -asin(r/l*sin(phi));\n  s = r*cos(phi) + l*cos(psi);\n  x2")
        text = re.sub(r"constraint\n.*\n.*\n", "", text)
        self.assertNotIn("constraint", text)
        self.same(simulate(EXAMPLES / "slider_crank.mo"), simulate(text), ["phi", "psi", "s"], 1e-5)

    def test_four_bar(self):
        """A four-bar linkage in natural coordinates: the joints' positions and a constant mass matrix."""
        text = """model Natural
  parameter Real m1 = 1, m2 = 4, m3 = 3, g = 9.81;
  Real x1(start = cos(1), fixed = true), y1(start = sin(1)), x2(start = 4), y2(start = 3);
initial equation
  der(x1) = -4*sin(1);
lagrangian
  m1/6*(der(x1)^2 + der(y1)^2) + m2/6*(der(x1)^2 + der(y1)^2 + der(x1)*der(x2) + der(y1)*der(y2) + der(x2)^2 + der(y2)^2);
  m3/6*(der(x2)^2 + der(y2)^2) - g/2*(m1*y1 + m2*(y1 + y2) + m3*y2);
constraint
  x1^2 + y1^2 = 1;
  (x2 - x1)^2 + (y2 - y1)^2 = 16;
  (x2 - 3.5)^2 + y2^2 = 9;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Natural;
"""
        run, other = simulate(EXAMPLES / "four_bar.mo"), simulate(text)
        run["x1"] = [math.cos(a) for a in run["a"]]
        run["y2"] = [3 * math.sin(c) for c in run["c"]]
        self.same(run, other, ["x1", "y2"], 1e-5)

    def test_jerk(self):
        """The angle as the only coordinate: no constraint."""
        text = (EXAMPLES / "jerk.mo").read_text()
        text = re.sub(r"constraint\n.*\n", "", text)
        text = re.sub(r"Real x.*;", "Real a(start = 0, fixed = true), x, y;", text)
        text = text.replace("lagrangian", "equation\n  x = cos(a);\n  y = sin(a);\nlagrangian")
        self.same(simulate(EXAMPLES / "jerk.mo"), simulate(text), ["x", "y"], 1e-6)

    def test_any_order(self):
        """(67) with k derivatives: sum of c_j (q^(j))^2 with the frequencies 1, 2, ..., k, one of which is excited."""
        for k in range(2, 7):
            polynomial = [1]  # of s^2, the lowest first: product of s^2 + j^2
            for j in range(1, k + 1):
                polynomial = [a * j * j + b for a, b in zip(polynomial + [0], [0] + polynomial)]
            q = ["q"]
            for j in range(2 * k):
                q.append(f"der({q[-1]})")
            terms = " + ".join(f"({(-1)**(j + 1) * c})/2*{q[j]}^2" for j, c in enumerate(polynomial))
            start = "".join(f"  {q[j]} = {math.cos(math.pi / 2 * j):.0f};\n" for j in range(2 * k))
            text = f"model Any\n  Real q(start = 1);\ninitial equation\n{start}lagrangian\n  {terms};\nend Any;\n"
            run = simulate(text, "--tolerance", "1e-8")
            self.assertLess(difference(run["q"], [math.cos(t) for t in run["time"]]), 1e-6, k)

    def test_magnetic(self):
        run = simulate(EXAMPLES / "magnetic.mo")
        rate, drift = 2 * 3, complex(0, -0.5 / 3)
        for k, t in enumerate(run["time"]):
            place = (1 - drift) * (1 - cmath.exp(-1j * rate * t)) / (1j * rate) + drift * t
            self.assertAlmostEqual(run["x"][k], place.real, delta=1e-6)
            self.assertAlmostEqual(run["y"][k], place.imag, delta=1e-6)
            self.assertAlmostEqual(run["z"][k], 0.25 * t, delta=1e-9)

    def test_rlc(self):
        """L I'' + R I' + I/C = 0, equation (78), by every method."""
        decay, rate = 1 / 4, math.sqrt(1 / (2 * 0.1) - 1 / 16)
        for method in ("dummy", "minimal", "projection", "baumgarte", "ggl", "ggl1", "underlying", "overdetermined", "strangeness",
                       "none"):
            run = simulate(EXAMPLES / "rlc.mo", "--method", method)
            for k, t in enumerate(run["time"]):
                exact = math.exp(-decay * t) * (math.cos(rate * t) + decay / rate * math.sin(rate * t))
                for name in ("I1", "I2", "I3"):
                    self.assertAlmostEqual(run[name][k], exact, delta=2e-6, msg=method)
        code, text, words, _ = daedal("reduce", EXAMPLES / "rlc.mo", "--method", "projection")
        self.assertEqual(code, 0, words)
        self.assertIn("2 differential equations, 0 algebraic", text)

    def test_transformer(self):
        text = """model Loops
  parameter Real L1 = 1, L2 = 2, M = 1.2, D = L1*L2 - M^2;
  Real q1(start = 0, fixed = true), q2(start = 0, fixed = true), i1(start = 0, fixed = true), i2(start = 0, fixed = true);
  Real v1 = 2*sin(1.5*time) - q1/0.5, v2 = -q2 - 0.3*i2;
equation
  der(q1) = i1;
  der(q2) = i2;
  der(i1) = (L2*v1 - M*v2)/D;
  der(i2) = (L1*v2 - M*v1)/D;
  annotation(experiment(StopTime = 10, Tolerance = 1e-8));
end Loops;
"""
        self.same(simulate(EXAMPLES / "transformer.mo"), simulate(text), ["q1", "q2"], 1e-6)

    def test_rolling_disc(self):
        run = simulate(EXAMPLES / "rolling_disc.mo")
        gain = 9.81 * math.sin(0.3) * 0.5 / (0.25 + 0.125)
        for k, t in enumerate(run["time"]):
            self.assertAlmostEqual(run["psi"][k], 0.5 + t, delta=1e-7)
            self.assertAlmostEqual(run["der(phi)"][k], 2 + gain * (math.sin(0.5 + t) - math.sin(0.5)), delta=1e-6)
            self.assertAlmostEqual(run["der(x)"][k], 0.5 * run["der(phi)"][k] * math.cos(run["psi"][k]), delta=1e-9)

    def test_chain(self):
        text = """model Newton
  constant Integer n = 8;
  parameter Real m = 0.1, k = 50, l0 = 0.1, d = 0.02, g = 9.81, a = 0.1, w = 5;
  Real x[n](start = {i/(n + 1) for i in 1:n}, each fixed = true), y[n](each start = 0, each fixed = true);
  Real v[n](each start = 0, each fixed = true), u[n](each start = 0, each fixed = true);
  Real X[n + 2] = cat(1, {0}, x, {1}), Y[n + 2] = cat(1, {a*sin(w*time)}, y, {0}), s[n + 1], l[n + 1];
equation
  der(x) = v;
  der(y) = u;
  for i in 1:n + 1 loop
    l[i] = sqrt((X[i + 1] - X[i])^2 + (Y[i + 1] - Y[i])^2);
    s[i] = k*(l[i] - l0)/l[i];
  end for;
  for i in 1:n loop
    m*der(v[i]) = s[i + 1]*(X[i + 2] - X[i + 1]) - s[i]*(X[i + 1] - X[i]) - d*v[i];
    m*der(u[i]) = s[i + 1]*(Y[i + 2] - Y[i + 1]) - s[i]*(Y[i + 1] - Y[i]) - d*u[i] - m*g;
  end for;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Newton;
"""
        names = [f"{name}[{i}]" for name in "xy" for i in (1, 4, 8)]
        self.same(simulate(EXAMPLES / "chain.mo"), simulate(text), names, 1e-5)

    def test_pais_uhlenbeck(self):
        run = simulate(EXAMPLES / "pais_uhlenbeck.mo")
        for t, q in zip(run["time"], run["q"]):
            exact = 5 / 6 * math.cos(t) + math.sin(t) / 6 + math.cos(2 * t) / 6 - math.sin(2 * t) / 12
            self.assertAlmostEqual(q, exact, delta=1e-6)

    def test_squeezer(self):
        other = simulate(SOURCE / "examples/andrews.mo", "--tolerance", "1e-8")
        names = ["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"]
        self.same(simulate(EXAMPLES / "squeezer.mo"), other, names, 2e-4)

    def test_methods_agree(self):
        for example in ("pendulum", "slider_crank", "rolling_disc"):
            first = simulate(EXAMPLES / f"{example}.mo", "--stop-time", "1")
            signals = [name for name in first if re.fullmatch(r"[a-z]+", name) and name != "time"]
            for method in ("projection", "minimal", "strangeness"):
                with self.subTest(example, method=method):
                    self.same(first, simulate(EXAMPLES / f"{example}.mo", "--stop-time", "1", "--method", method), signals, 1e-4)

    def test_projection(self):
        """The projected equations (72): no algebraic equation remains, and their text follows the same trajectory."""
        for example in ("pendulum", "double_pendulum", "triple_pendulum", "slider_crank", "four_bar", "squeezer", "rolling_disc"):
            with self.subTest(example):
                path = EXAMPLES / f"{example}.mo"
                stop = ("--stop-time", "0.01" if example == "squeezer" else "0.1", "--tolerance", "1e-9")
                code, text, words, _ = daedal("reduce", path, "--method", "projection")
                self.assertEqual(code, 0, words)
                self.assertRegex(text, r"// \d+ differential equations, 0 algebraic,")
                self.assertIn("positive definite on the tangent space", text)
                self.assertIn("D^T M D by Cholesky", text)
                run, again = simulate(path, *stop), simulate(text, *stop)
                signals = [name for name in run if re.fullmatch(r"[a-z]+\d?(\[\d\])?", name)]
                self.same(run, again, signals, 1e-6)

    def test_flatten_reads_back(self):
        for path in sorted(EXAMPLES.glob("*.mo")):
            with self.subTest(path.stem):
                _, text, _, _ = daedal("flatten", path, "--energy")
                self.assertNotIn("lagrangian", text)
                self.assertIn("// coordinate ", text)
                code, again, words, _ = daedal("flatten", text)
                self.assertEqual(code, 0, words)
                strip = lambda flat: re.sub(r" *//.*\n", "", flat)
                self.assertEqual(strip(text), strip(again))

    def test_strict(self):
        code, _, words, _ = daedal("check", EXAMPLES / "slider_crank.mo", "--strict")
        self.assertEqual(code, 3)
        for section in ("lagrangian", "dissipation", "force", "constraint"):
            self.assertIn(f"section `{section}`", words)
        self.assertEqual(daedal("check", SOURCE / "examples/pendulum.mo", "--strict")[0], 0)


class Coordinates(unittest.TestCase):
    """A Lagrangian in q, and the same with q as functions of other coordinates s: the motions must be the same."""

    def pair(self, seed):
        rng = random.Random(seed)
        number = lambda low, high: f"{rng.uniform(low, high):.3f}"
        kinetic = (f"{number(1, 2)}/2*der(q1)^2 + {number(1, 2)}*(1 + 0.3*cos(q1*{number(0.5, 2)}))/2*der(q2)^2 "
                   f"+ {number(-0.4, 0.4)}*sin(q2)*der(q1)*der(q2)")
        linear = rng.choice(["", f" + {number(-1, 1)}*q1*der(q2)", f" + {number(-1, 1)}*sin(time)*q2*der(q1)"])
        potential = f"{number(1, 4)}*q1^2 + {number(1, 3)}*(1 - cos(q2)) + {number(-1, 1)}*q1*q2"
        drive = rng.choice(["", f" + {number(0.1, 1)}*q1*cos({number(1, 3)}*time)"])
        friction = f"{number(0, 0.4)}/2*der(q1)^2 + {number(0, 0.2)}*der(q2)^4"
        bend, twist = number(-0.2, 0.2), number(-0.2, 0.2)
        energies = f"lagrangian\n  {kinetic}{linear} - ({potential}){drive};\ndissipation\n  {friction};\n"
        end = "  annotation(experiment(StopTime = 2, Tolerance = 1e-9));\nend M;\n"
        direct = ("model M\n  Real q1(start = 0.4, fixed = true), q2(start = -0.3, fixed = true);\ninitial equation\n"
                  f"  der(q1) = 0.5;\n  der(q2) = 1;\n{energies}{end}")
        bent = ("model M\n  Real s1, s2, q1(start = 0.4, fixed = true), q2(start = -0.3, fixed = true);\ninitial equation\n"
                f"  der(q1) = 0.5;\n  der(q2) = 1;\nequation\n  q1 = s1 + {bend}*sin(s2);\n  q2 = s2 + {twist}*s1^2;\n"
                f"{energies}{end}")
        return direct, bent

    def test_two_systems(self):
        for seed in range(COUNT):
            with self.subTest(seed=seed):
                direct, bent = self.pair(seed)
                a, b = simulate(direct, "--energy"), simulate(bent, "--energy")
                for name in ("q1", "q2"):
                    self.assertLess(difference(a[name], b[name]), 1e-5, direct)
                for run in (a, b):
                    self.assertLess(max(map(abs, run["energy.balance"])), 1e-6, direct)


if __name__ == "__main__":
    unittest.main(verbosity=0, argv=sys.argv)
