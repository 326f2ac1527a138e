"""Simulations through the command: against closed forms, against another solver on the same model, against the published end
points of the test set, through pivots and events. No test asserts a time."""
import csv
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
from random import Random

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
SLOW = os.environ.get("BUILD_KIND") == "asan"
REFERENCE = json.loads((SOURCE / "bench/ivp/reference.json").read_text())
HELP = subprocess.run([DAEDAL, "simulate", "--help"], capture_output=True, text=True).stdout
BUILT = re.search(r"integrator: (.*)", HELP).group(1).split(", ")


def built(*solvers):
    """Those of them that this build has: ida and cvode need SUNDIALS."""
    return [solver for solver in solvers if solver in BUILT]


class Run:
    """One `daedal simulate`: exit status, words, statistics, rows by name."""

    def __init__(self, model, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            if "\n" in str(model):
                (path / "model.mo").write_text(model)
                model = path / "model.mo"
            process = subprocess.run([DAEDAL, "simulate", str(model), "--output-file", str(path / "out.csv"), "--json",
                                      str(path / "out.json"), *map(str, options)], capture_output=True, text=True)
            self.code, self.words = process.returncode, process.stderr
            self.json = json.loads((path / "out.json").read_text()) if (path / "out.json").exists() else None
            self.columns = {}
            if (path / "out.csv").exists():
                with open(path / "out.csv", newline="") as file:
                    rows = list(csv.reader(file))
                for k, name in enumerate(rows[0]):
                    self.columns[name] = [float(row[k]) for row in rows[1:]]

    def __getitem__(self, name):
        return self.columns[name]


def example(name):
    return SOURCE / "examples" / (name + ".mo")


def drift(values):
    return max(abs(v - values[0]) for v in values)


class ClosedForms(unittest.TestCase):
    SOLVERS = built("erk", "radau", "bdf", "ida", "cvode")

    def test_model_without_equations(self):
        for solver in self.SOLVERS:
            run = Run("model M\n  parameter Real p = 2;\nend M;\n", "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertEqual(run["time"][-1], 1)

    def test_linear_decay(self):
        model = "model M\n Real x(start=1, fixed=true);\nequation\n der(x) = -3*x;\nend M;\n"
        for solver in self.SOLVERS:
            run = Run(model, "--stop-time", 2, "--tolerance", 1e-8, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            error = max(abs(x - math.exp(-3 * t)) for t, x in zip(run["time"], run["x"]))
            self.assertLess(error, 2e-6, solver)

    def test_derivative_chain(self):
        """Mattsson and Söderlind (1.2): no degree of freedom, everything follows by differentiation."""
        model = "model M\n Real x, y, z;\nequation\n der(x) = y;\n der(y) = z;\n x = sin(time);\nend M;\n"
        for solver in built("auto", "radau", "bdf", "ida"):
            run = Run(model, "--stop-time", 3, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertEqual(run.json["states"], 0)
            for t, x, y, z in zip(run["time"], run["x"], run["y"], run["z"]):
                self.assertAlmostEqual(x, math.sin(t), delta=1e-13)
                self.assertAlmostEqual(y, math.cos(t), delta=1e-13)
                self.assertAlmostEqual(z, -math.sin(t), delta=1e-13)

    def test_higher_derivatives(self):
        model = ("model M\n Real x(start=1, fixed=true); Real v(start=0, fixed=true);\nequation\n"
                 " der(der(x)) = -4*x;\n v = der(x);\nend M;\n")
        run = Run(model, "--stop-time", 5, "--tolerance", 1e-9)
        self.assertEqual(run.code, 0, run.words)
        self.assertLess(max(abs(x - math.cos(2 * t)) for t, x in zip(run["time"], run["x"])), 1e-7)

    def test_output_points_are_as_good_as_steps(self):
        """Many output points in each of few steps of high order."""
        model = ("model M\n Real x(start=1, fixed=true); Real v(start=0, fixed=true);\nequation\n der(x) = v;\n der(v) = -x;\nend M;\n")
        for solver in ("erk", "radau"):
            for tolerance in (1e-8, 1e-10, 1e-12):
                run = Run(model, "--stop-time", 20, "--intervals", 1000, "--tolerance", tolerance, "--solver", solver)
                self.assertEqual(run.code, 0, run.words)
                self.assertLess(run.json["steps"], 150)
                error = max(abs(x - math.cos(t)) for t, x in zip(run["time"], run["x"]))
                self.assertLess(error, 10 * tolerance, solver)

    def test_nonlinear_in_what_time_gives(self):
        """y' + y = x'^2 with x = sin(10 t): the row of x converges in one iteration, that of y does not."""
        model = ("model M\n Real x, y(start=0, fixed=true);\nequation\n x = sin(10*time);\n der(y) + y = der(x)^2;\nend M;\n")
        exact = 50 + 50 * (math.cos(100) + 20 * math.sin(100)) / 401 - (50 + 50 / 401) * math.exp(-5)
        for solver in self.SOLVERS:
            for tolerance in (1e-6, 1e-9):
                run = Run(model, "--stop-time", 5, "--intervals", 1, "--tolerance", tolerance, "--solver", solver)
                self.assertEqual(run.code, 0, run.words)
                self.assertLess(abs(run["y"][-1] - exact), 100 * tolerance * exact, solver)

    def test_idle_columns(self):
        """Columns on which no derivative depends are right at every output point, and are not evaluated in every stage."""
        declared = "".join(f" Real a{k};" for k in range(20))
        chain = " a0 = x^2;\n" + "".join(f" a{k} = a{k - 1} + {k}*x*time;\n" for k in range(1, 20)) + " c + c^3 = a19;\n"
        model = ("model M\n Real x(start=1, fixed=true); Real w; Real c(start=1);" + declared +
                 " Real b;\nequation\n der(x) = -w;\n w = x + 0*sin(x);\n b = w + a1;\n")
        run = Run(model + chain + "end M;\n", "--stop-time", 2, "--tolerance", 1e-9, "--solver", "erk")
        used = Run(model + chain.replace(" c + c^3 = a19", " c = a19") + "end M;\n", "--stop-time", 2, "--tolerance", 1e-9, "--solver", "erk")
        for result in (run, used):
            self.assertEqual(result.code, 0, result.words)
            for t, x, b, c, last in zip(*(result[name] for name in ("time", "x", "b", "c", "a19"))):
                self.assertAlmostEqual(x, math.exp(-t), delta=1e-8)
                self.assertAlmostEqual(b, x + x * x + x * t, delta=1e-13)
                self.assertAlmostEqual(last, x * x + sum(range(20)) * x * t, delta=1e-12)
                self.assertAlmostEqual(c + c**3 if result is run else c, last, delta=1e-12)
        # c is found by iteration, so steps follow it; a19 costs none
        self.assertLess(run.json["steps"], 3 * used.json["steps"])
        self.assertLess(used.json["residual_evals"], 0.5 * run.json["residual_evals"])

    def test_nonlinear_algebraic(self):
        model = ("model M\n Real x(start=1, fixed=true); Real z(start=1);\nequation\n"
                 " der(x) = -z;\n z + z^3 = x + x^3;\nend M;\n")
        for solver in self.SOLVERS:
            run = Run(model, "--stop-time", 1, "--tolerance", 1e-8, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertLess(max(abs(x - math.exp(-t)) for t, x in zip(run["time"], run["x"])), 1e-6, solver)
            self.assertLess(max(abs(x - z) for x, z in zip(run["x"], run["z"])), 1e-12, solver)

    def test_factors_of_a_large_block_are_kept(self):
        """x[k] = sin(k*time/n), found from n equations that hold all of them, nonlinear or with a matrix that moves."""
        n = 30
        for term in ("x[{0}]^3 - sin({0}*time/{1})^3", "sin(time)*(x[{0}] - sin({0}*time/{1}))"):
            rest = "sum((k + {0})/(k + 2*{0})*(x[k] - sin(k*time/{1})) for k in 1:{1})"
            lines = "".join("  " + ("{1}*(x[{0}] - sin({0}*time/{1})) + " + term + " + " + rest + " = 0;\n").format(k, n)
                            for k in range(1, n + 1))
            text = f"model M\n  Real x[{n}], s(start = 0, fixed = true);\nequation\n  der(s) = x[{n}];\n{lines}end M;\n"
            for solver in self.SOLVERS:
                run = Run(text, "--solver", solver, "--intervals", 1000)
                with self.subTest(term=term, solver=solver):
                    self.assertEqual(run.code, 0, run.words)
                    self.assertLess(run.json["factorizations"], 40)
                    worst = max(abs(x - math.sin(k * t / n)) for k in range(1, n + 1)
                                for t, x in zip(run["time"], run[f"x[{k}]"]))
                    self.assertLess(worst, 1e-12)


class Norms(unittest.TestCase):
    """Roots of sums of squares of what is zero at the start, as the currents of a machine at rest are. Their slope begins with a jump, which
    ida, whose error test has algebraic variables in it, does not pass."""

    def test_from_zero(self):
        for seed in range(6 if SLOW else 24):
            rng = random.Random(seed)
            parts = [(rng.uniform(0.2, 3), rng.uniform(-2, 2)) for _ in range(rng.randint(2, 4))]
            gain, solver = rng.uniform(-0.5, 0.5), ("auto", "erk", "radau", "bdf")[seed % 4]
            squares = " + ".join(rng.choice([f"{c!r}*x{k}^2", f"x{k}^2*{c!r}"]) for k, (c, _) in enumerate(parts))
            law = rng.choice([f"n = sqrt({squares})", f"n = sqrt(({squares})/4)*2"])
            text = ("model M\n Real " + ", ".join(f"x{k}(start=0, fixed=true)" for k in range(len(parts))) +
                    ", n, w, l;\nequation\n" + "".join(f" der(x{k}) = {u!r} - x{k};\n" for k, (_, u) in enumerate(parts)) +
                    f" {law};\n w = der(n);\n l = n + {gain!r}*sin(l);\nend M;\n")
            size = math.sqrt(sum(c * u * u for c, u in parts))
            with self.subTest(seed=seed, solver=solver, text=text):
                run = Run(text, "--stop-time", 1, "--tolerance", 1e-8, "--solver", solver)
                self.assertEqual(run.code, 0, run.words)
                self.assertAlmostEqual(run.columns["n"][-1], size * (1 - math.exp(-1)), delta=1e-5 * size)
                self.assertAlmostEqual(run.columns["w"][-1], size * math.exp(-1), delta=1e-4 * size)


class Weights(unittest.TestCase):
    """A choice of states that is wanted, by stateSelect or by nominal values, is left where it would be singular."""

    WISHES = ("stateSelect = StateSelect.always", "stateSelect = StateSelect.prefer", "nominal = 1e-4", "nominal = 1e-2")

    def declare(self, rng, starts, wish):
        """Declarations of a model, those of one position and its speed with the wish."""
        side = rng.choice([name for name in starts if name[0] != "v"])
        return ", ".join(f"{name}(start = {start!r}{', ' + wish if name in (side, 'v' + side) else ''})" for name, start in starts.items())

    def pendulum(self, rng, wish):
        angle, speed = rng.uniform(0.3, 2.8), rng.uniform(-2, 2)
        x, y = math.cos(angle), math.sin(angle)
        starts = {"x": x, "y": y, "vx": -speed * y, "vy": speed * x}
        return 3, self.declare(rng, starts, wish) + ", F", "der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;"

    def bead(self, rng, wish):
        """On an ellipse, from rest: both positions are turned back to as well as passed."""
        angle, wide, high = rng.uniform(0.1, 1.4), rng.uniform(0.5, 3), rng.uniform(0.5, 3)
        starts = {"x": wide * math.cos(angle), "y": high * math.sin(angle), "vx": 0.0, "vy": 0.0}
        return 3, self.declare(rng, starts, wish) + ", F", (f"der(x) = vx; der(y) = vy; der(vx) = -F*x/{wide ** 2!r}; der(vy) = -F*y/{high ** 2!r} - 9.81; "
                                                            f"x^2/{wide ** 2!r} + y^2/{high ** 2!r} = 1;")

    def sphere(self, rng, wish):
        tilt, turn, speed = rng.uniform(0.4, 2.6), rng.uniform(0, 6), rng.uniform(0.5, 2)
        starts = {"x": math.sin(tilt) * math.cos(turn), "y": math.sin(tilt) * math.sin(turn), "z": math.cos(tilt),
                  "vx": -speed * math.sin(turn), "vy": speed * math.cos(turn), "vz": 0.0}
        return 2, self.declare(rng, starts, wish) + ", F", ("der(x) = vx; der(y) = vy; der(z) = vz; der(vx) = -F*x; der(vy) = -F*y; der(vz) = -F*z - 9.81; "
                                                            "x^2 + y^2 + z^2 = 1;")

    def crank(self, rng, wish):
        """A crank that is driven, and a rod whose other end slides."""
        angle, rod = rng.uniform(0.3, 2.8), rng.uniform(1.3, 3)
        x, y = math.cos(angle), math.sin(angle)
        starts = {"x": x, "y": y, "s": x + math.sqrt(rod ** 2 - y ** 2), "vx": 0.0, "vy": 0.0, "vs": 0.0}
        return 2, self.declare(rng, starts, wish) + ", F, G", ("der(x) = vx; der(y) = vy; der(s) = vs; der(vx) = -F*x - G*(x - s) - y; der(vy) = -F*y - G*y + x - 9.81; "
                                                               f"der(vs) = G*(x - s); x^2 + y^2 = 1; (x - s)^2 + y^2 = {rod ** 2!r};")

    def check(self, make, count):
        for seed in range(count // 4 if SLOW else count):
            rng = random.Random(seed)
            wish = rng.choice(self.WISHES)
            stop, declared, equations = make(rng, wish)
            text = f"model M\n Real {declared};\nequation\n {equations}\nend M;\n"
            plain = Run(text.replace(", " + wish, ""), "--stop-time", stop, "--tolerance", 1e-10, "--solver", "erk")
            for solver in built("erk", "radau", "bdf", "ida"):
                with self.subTest(seed=seed, solver=solver, text=text):
                    run = Run(text, "--stop-time", stop, "--tolerance", 1e-8, "--solver", solver)
                    self.assertEqual(run.code, 0, run.words)
                    self.assertAlmostEqual(run.columns["x"][-1], plain.columns["x"][-1], delta=1e-3)

    def test_pendulums(self):
        self.check(self.pendulum, 16)

    def test_beads(self):
        self.check(self.bead, 12)

    def test_spheres(self):
        self.check(self.sphere, 12)

    def test_cranks(self):
        self.check(self.crank, 12)

    def test_regular(self):
        """Where the matrix is always regular, as that of a gear or of a point on an arm, or is far from singular, what is wanted is a state all the
        time."""
        for seed in range(8):
            rng = random.Random(seed)
            ratio, wish = 10 ** rng.uniform(1, 2.5), rng.choice(self.WISHES[:2])
            gear = (f"model M\n Real a(start = 0.1, {wish}), w(start = 0, {wish}), b, v, F;\nequation\n"
                    f" der(a) = w; der(b) = v; der(w) = {ratio!r}*F - sin(a); der(v) = -F; b = {ratio!r}*a;\nend M;\n")
            swing = (f"model M\n Real x(start = {rng.uniform(-0.9, 0.9)!r}, {wish}), y(start = -1), vx(start = 0, {wish}), vy, F;\nequation\n"
                     " der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;\nend M;\n")
            always = self.WISHES[0]
            arm = (f"model M\n Real p(start = {rng.uniform(0.2, 2)!r}, {always}), w(start = 0, {always}), x, y, vx, vy, F, G;\nequation\n"
                   f" der(p) = w; x = {ratio!r}*sin(p); y = -{ratio!r}*cos(p); der(x) = vx; der(y) = vy;\n"
                   " der(vx) = F; der(vy) = G - 9.81; F*cos(p) + G*sin(p) = 0;\nend M;\n")
            for text in (gear, swing, arm):
                with self.subTest(seed=seed, text=text):
                    run = Run(text, "--stop-time", 3 if text != arm else 6*math.sqrt(ratio), "--solver", "erk")
                    self.assertEqual(run.code, 0, run.words)
                    self.assertEqual(run.json["pivots"], [])


class Edges(unittest.TestCase):
    """Waves that pass a threshold for a short part of their period: the solver's step has no reason to be short there."""

    def test_waves(self):
        for seed in range(4 if SLOW else 16):
            rng = random.Random(seed)
            edge, tolerance = rng.uniform(0.9, 0.999), 10 ** rng.uniform(-9, -5)
            text = (f"model M\n Real x(start = 1, fixed = true), v(start = 0, fixed = true), a;\n discrete Integer n(start = 0, fixed = true);\n"
                    f"equation\n der(x) = v; der(v) = -x; a = 16*x^5 - 20*x^3 + 5*x;\n when a > {edge!r} then n = pre(n) + 1; end when;\nend M;\n")
            with self.subTest(seed=seed, tolerance=tolerance, text=text):
                run = Run(text, "--stop-time", 60, "--tolerance", tolerance, "--solver", "radau")
                self.assertEqual(run.code, 0, run.words)
                self.assertEqual(run.columns["n"][-1], math.floor((300 + math.acos(edge)) / (2 * math.pi)))


class Events(unittest.TestCase):
    def test_jump_without_event(self):
        """An algebraic variable that jumps on its own is no reason for small steps."""
        model = ("model M\n Real x(start=1, fixed=true), a;\nequation\n der(x) = -x;\n"
                 " a = noEvent(if sin(9*time) > 0 then 1 else -1)*x;\nend M;\n")
        for solver in ("radau", "bdf"):
            run = Run(model, "--stop-time", 5, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertLess(run.json["steps"] + run.json["rejected"], 150, solver)
            self.assertAlmostEqual(run["x"][-1], math.exp(-5), delta=1e-5)

    def test_piecewise_input(self):
        """A kink of the rate at a known time: the error stays at the tolerance, both sides are recorded."""
        model = ("model M\n Real x(start=0, fixed=true);\nequation\n"
                 " der(x) = if time < 0.3 then 1 else if time < 0.7 then -2 else 0;\nend M;\n")
        for solver in built("erk", "radau", "bdf", "ida"):
            run = Run(model, "--stop-time", 1, "--intervals", 7, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertEqual(run.json["events"], 2, solver)
            self.assertAlmostEqual(run["x"][-1], 0.3 - 0.8, delta=1e-9)
            self.assertEqual(sum(a == b for a, b in zip(run["time"], run["time"][1:])), 2)

    def test_order_of_extremes(self):
        """What max and min select is the same whatever the order of their arguments, also just where these are equal, and from there on."""
        for name, kink in (("max", 3.0), ("min", 0.0)):
            for arguments in ("0.5, 3*time", "3*time, 0.5"):
                model = f"model M\n Real a, x, y;\nequation\n a = {name}({arguments});\n x = der(a) + a;\n y = der(x);\nend M;\n"
                for stop in (0.5 / 3, 0.5):
                    run = Run(model, "--stop-time", repr(stop), "--intervals", 3)
                    self.assertEqual(run.code, 0, run.words)
                    self.assertAlmostEqual(run["x"][-1], kink + run["a"][-1], delta=1e-12, msg=f"{name}({arguments}) at {stop}")

    def test_state_event(self):
        """x' = 1 below 1, 1/2 above: the event is where x is 1."""
        model = ("model M\n Real x(start=0, fixed=true);\nequation\n der(x) = if x > 1 then 0.5 else 1;\nend M;\n")
        run = Run(model, "--stop-time", 3)
        self.assertEqual(run.code, 0, run.words)
        self.assertAlmostEqual(run["x"][-1], 2, delta=1e-9)
        self.assertEqual(run.json["events"], 1)

    def test_no_event_inside_noevent(self):
        model = ("model M\n Real x(start=0, fixed=true);\nequation\n"
                 " der(x) = noEvent(if time < 0.3 then 1 else -1);\nend M;\n")
        run = Run(model, "--stop-time", 1)
        self.assertEqual(run.code, 0, run.words)
        self.assertEqual(run.json["events"], 0)


class Pendulum(unittest.TestCase):
    def check(self, name, stop, evaluations, energy, *options):
        run = Run(example(name), "--stop-time", stop, "--tolerance", 1e-9, "--intervals", 1000, *options)
        self.assertEqual(run.code, 0, run.words)
        length = max(abs(x * x + y * y - 1) for x, y in zip(run["x"], run["y"]))
        self.assertLess(length, 1e-12)
        self.assertLess(drift(run["E"]), energy)
        self.assertLess(run.json["residual_evals"], evaluations)
        return run

    def test_small(self):
        run = self.check("pendulum_small", 100 if SLOW else 1000, 30000, 1e-8)
        self.assertEqual(run.json["pivots"], [])

    def test_large(self):
        run = self.check("pendulum_large", 100 if SLOW else 1000, 110000, 8e-7)
        self.assertGreater(len(run.json["pivots"]), 90 if SLOW else 900)

    @unittest.skipUnless(built("ida"), "no SUNDIALS")
    def test_large_ida(self):
        run = self.check("pendulum_large", 50 if SLOW else 1000, 240000, 1e-5, "--solver", "ida")
        self.assertLess(run.json["steps"], 110000)

    @unittest.skipUnless(built("ida"), "no SUNDIALS")
    def test_small_ida(self):
        run = self.check("pendulum_small", 50 if SLOW else 1000, 65000, 1e-6, "--solver", "ida")
        self.assertLess(run.json["steps"], 27338)

    def test_large_bdf(self):
        """Fewer steps and residuals than the DASSL of the paper (108731 and 240161), factors that serve ten steps, no restart."""
        stop = 50 if SLOW else 1000
        run = self.check("pendulum_large", stop, 140000, 1e-5, "--solver", "bdf")
        self.assertLess(run.json["steps"], 76 * stop)
        self.assertLess(run.json["factorizations"], run.json["steps"] / 10)
        self.assertGreater(len(run.json["pivots"]), 0.9 * stop)

    def test_full_turns(self):
        model = ("model Turns\n Real x(start=0, fixed=true); Real y(start=-1); Real u(start=3, fixed=true); Real v(start=0); Real s;\n"
                 " Real E;\nequation\n der(x) = u; der(y) = v;\n der(u) = -s*x; der(v) = -s*y - 1;\n x^2 + y^2 = 1;\n"
                 " E = (u^2 + v^2)/2 + y;\nend Turns;\n")
        for solver in built("auto", "radau", "bdf", "ida"):
            run = Run(model, "--stop-time", 50, "--tolerance", 1e-9, "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertGreater(max(run["y"]), 0.99)
            self.assertLess(drift(run["E"]), 1e-5)
            self.assertLess(max(abs(x * x + y * y - 1) for x, y in zip(run["x"], run["y"])), 1e-11)
            self.assertGreater(len(run.json["pivots"]), 10)


class ManyPendulums(unittest.TestCase):
    MODEL = """model Many
  parameter Integer n = {n};
  parameter Real g[n] = {g};
  Real x[n](each start=0.8, each fixed=true), y[n](each start=-0.6), u[n](each start=0, each fixed=true), v[n], l[n];
equation
  for i in 1:n loop
    der(x[i]) = u[i];
    der(y[i]) = v[i];
    der(u[i]) = -l[i]*x[i];
    der(v[i]) = -l[i]*y[i] - g[i];
    x[i]^2 + y[i]^2 = 1;
  end for;
end Many;
"""

    def test_each_moves_as_if_alone(self):
        """Independent blocks of three stages each, in one model: factors of one stage serve the next of its own block."""
        n = 100 if SLOW else 2000
        many = Run(self.MODEL.format(n=n, g="{1 + i/n for i in 1:n}"), "--stop-time", 0.5, "--intervals", 2, "--tolerance", 1e-8, "--solver", "erk")
        self.assertEqual(many.code, 0, many.words)
        self.assertEqual(many.json["states"], 2 * n)
        self.assertLess(many.json["constraint_residual"]["max"], 1e-13)
        for i in (1, n // 2, n):
            alone = Run(self.MODEL.format(n=1, g=f"{{{1 + i / n!r}}}"), "--stop-time", 0.5, "--intervals", 2, "--tolerance", 1e-8, "--solver", "erk")
            for name in ("x", "y", "l"):
                self.assertAlmostEqual(many[f"{name}[{i}]"][-1], alone[f"{name}[1]"][-1], delta=1e-6)


class Mechanisms(unittest.TestCase):
    NAMES = ["double_pendulum", "triple_pendulum", "slider_crank", "spherical_pendulum", "paraboloid"]

    def test_both_formulations_agree(self):
        """The state-space form and the whole index-1 system give one trajectory, with every constraint at round-off."""
        for name in self.NAMES:
            runs = {solver: Run(example(name), "--tolerance", 1e-9, "--solver", solver) for solver in built("erk", "radau", "bdf", "ida")}
            for solver, run in runs.items():
                self.assertEqual(run.code, 0, name + " " + solver + run.words)
                self.assertLess(run.json["constraint_residual"]["max"], 1e-12, name + " " + solver)
                if "E" in run.columns:
                    self.assertLess(drift(run["E"]), 1e-5 * (1 + abs(run["E"][0])), name + " " + solver)
            for solver in built("radau", "bdf", "ida"):
                for column, values in runs["erk"].columns.items():
                    if "(" in column:
                        continue
                    size = 1 + max(map(abs, values))
                    gap = max(abs(a - b) for a, b in zip(values, runs[solver][column]))
                    self.assertLess(gap / size, 1e-4 if solver == "radau" else 2e-4, "%s %s %s" % (name, solver, column))

    def test_factors_are_kept(self):
        """Kunkel and Mehrmann's paraboloid by BDF: two residuals a step, and factors that serve ten steps."""
        for solver in built("ida", "bdf"):
            run = Run(example("paraboloid"), "--tolerance", 1e-9, "--solver", solver, "--stop-time", 100)
            self.assertEqual(run.code, 0, run.words)
            self.assertLess(run.json["residual_evals"], 2 * run.json["steps"], solver)
            self.assertLess(run.json["factorizations"], run.json["steps"] / (10 if solver == "ida" else 8), solver)
            self.assertLess(run.json["steps"], 6500, solver)
            self.assertLess(run.json["constraint_residual"]["max"], 1e-12, solver)


class Automatic(unittest.TestCase):
    def test_large(self):
        """More rows than explicit methods are for: BDF; a rod of 3100 pieces cools by its slowest wave."""
        n = 3100
        model = (f"model Rod\n parameter Real c = {n + 1}^2;\n Real x[{n}](each fixed = true, start = {{sin(3.141592653589793*i/{n + 1}) for i in 1:{n}}});\n"
                 f"equation\n der(x[1]) = c*(x[2] - 2*x[1]);\n for i in 2:{n - 1} loop der(x[i]) = c*(x[i-1] - 2*x[i] + x[i+1]); end for;\n"
                 f" der(x[{n}]) = c*(x[{n - 1}] - 2*x[{n}]);\nend Rod;\n")
        run = Run(model, "--stop-time", 0.1, "--intervals", 10, "--variables", r"x\[1550\]")
        self.assertEqual(run.code, 0, run.words)
        self.assertEqual((run.json["solver"], run.json["solver_reason"]), ("bdf", "large and sparse"))
        self.assertLess(max(abs(x - math.exp(-math.pi**2 * t)) for t, x in zip(run["time"], run["x[1550]"])), 1e-4)

    def test_strangeness(self):
        """No more residuals a step than GENDA (4.0 in Kunkel and Mehrmann's Table 2), and no factorization in most steps (GENDA: one)."""
        run = Run(example("paraboloid"), "--tolerance", 1e-9, "--method", "strangeness", "--stop-time", 20)
        self.assertEqual(run.code, 0, run.words)
        self.assertEqual(run.json["solver"], "bdf")
        self.assertLess(run.json["residual_evals"], 2.5 * run.json["steps"])
        self.assertLess(run.json["factorizations"], run.json["steps"] / 4)

    def test_strangeness_exchanges_in_time(self):
        """At the start no coordinate depends on the state: the choice must be looked at again all the same (the pendulum begins level)."""
        exact = Run(example("pendulum"), "--tolerance", 1e-11)
        for solver in built("bdf", "ida", "erk"):
            run = Run(example("pendulum"), "--tolerance", 1e-8, "--method", "strangeness", "--solver", solver)
            self.assertEqual(run.code, 0, run.words)
            self.assertLess(max(abs(a - b) for a, b in zip(run["x"], exact["x"])), 1e-4, solver)

    def test_strangeness_selects_anew(self):
        """Where a selection of states gets singular the corrector fails, and that must be seen: same trajectory as by Radau."""
        model = (SOURCE / "tests/cases/strangeness/overdetermined.mo").read_text()
        for tolerance in (1e-6, 1e-7, 1e-8):
            options = ("--method", "strangeness", "--tolerance", tolerance, "--stop-time", 5)
            first, second = (Run(model, *options, "--solver", solver) for solver in ("radau", "bdf"))
            self.assertEqual((first.code, second.code), (0, 0), second.words)
            self.assertLess(max(abs(a - b) for a, b in zip(first["x"], second["x"])), 1e-4)


class TestSet(unittest.TestCase):
    def digits(self, name, solver, tolerance, *options):
        run = Run(example(name), "--solver", solver, "--tolerance", tolerance, "--intervals", 10, *options)
        self.assertEqual(run.code, 0, run.words)
        reference = REFERENCE[name]["reference"]
        return min(-math.log10(max(abs(run.json["final"][n] - v) / abs(v), 1e-17)) for n, v in reference.items())

    def test_caraxis(self):
        self.assertGreater(self.digits("caraxis", "radau", 1e-9), 6)
        self.assertGreater(self.digits("caraxis", "erk", 1e-9), 6)

    def test_andrews(self):
        self.assertGreater(self.digits("andrews", "radau", 1e-8), 5)
        self.assertGreater(self.digits("andrews", "erk", 1e-8), 5)

    def test_chemakzo(self):
        self.assertGreater(self.digits("chemakzo", "radau", 1e-8), 6)
        for solver in built("bdf", "ida"):
            self.assertGreater(self.digits("chemakzo", solver, 1e-8), 5)

    def test_transamp_as_it_is(self):
        self.assertGreater(self.digits("transamp", "radau", 1e-7, "--method", "none"), 5)

    @unittest.skipUnless(built("ida"), "needs SUNDIALS")
    def test_amplifiers_stay_at_high_orders(self):
        """Amplifiers with other resistors and capacitors: what a corrector leaves behind leads ida to order 1, where it takes ten times as many steps."""
        text, steps = example("transamp").read_text(), 0
        for seed in range(2 if SLOW else 5):
            random = Random(seed)
            model = re.sub(r"(parameter Real (?:R0|R|C[1-5]) = )([0-9.e+-]+)", lambda m: m[1] + repr(float(m[2]) * random.uniform(0.8, 1.25)), text)
            run = Run(model, "--method", "none", "--solver", "ida", "--tolerance", 1e-5, "--intervals", 1)
            self.assertEqual(run.code, 0, run.words)
            steps += run.json["steps"]
        self.assertLess(steps, 5000 * (seed + 1))


class Failures(unittest.TestCase):
    def test_domain(self):
        """sqrt of a state that runs through zero: the run stops there, says why, and keeps the trajectory."""
        model = "model M\n Real x(start=1, fixed=true);\nequation\n der(x) = -1 - sqrt(x);\nend M;\n"
        run = Run(model, "--stop-time", 3)
        self.assertEqual(run.code, 6)
        self.assertIn("sqrt(x)", run.words)
        self.assertGreater(len(run["time"]), 10)
        self.assertEqual(run.json["status"], "integration")

    def test_tank_runs_empty(self):
        """h = (1 - time)^2 up to time 1, then 0: no derivative of the root there. Within a mode the root may get undefined."""
        text = "model M\n Real h(start=1, fixed=true);\nequation\n der(h) = -2*sqrt({});\nend M;\n"
        for solver in built("erk", "radau"):
            for argument in ("max(h, 0)", "noEvent(if h > 0 then h else 0)"):
                run = Run(text.format(argument), "--stop-time", 3, "--solver", solver)
                self.assertEqual(run.code, 0, run.words)
                self.assertLess(max(abs(h - max(1 - t, 0)**2) for t, h in zip(run["time"], run["h"])), 1e-4, (solver, argument))
            run = Run(text.format("if h > 0 then h else 0"), "--stop-time", 3, "--solver", solver)
            self.assertIn(run.code, (0, 6), run.words)
            if run.code: self.assertIn("if h > 0", run.words)

    def test_turning_point(self):
        """der(y) = z, y^2 + z^2 = 1 reaches a singular point at pi/2: never passed in silence."""
        model = "model M\n Real y(start=0, fixed=true); Real z(start=1);\nequation\n der(y) = z;\n y^2 + z^2 = 1;\nend M;\n"
        run = Run(model, "--stop-time", 3)
        self.assertEqual(run.code, 6)
        self.assertLess(abs(run.json["end_time"] - math.pi / 2), 1e-2)

    def test_conflicting_starts(self):
        model = ("model M\n Real x(start=0.6, fixed=true); Real y(start=0.7, fixed=true); Real u(start=0, fixed=true); Real v, s;\nequation\n"
                 " der(x) = u; der(y) = v;\n der(u) = -s*x; der(v) = -s*y - 1;\n x^2 + y^2 = 1;\nend M;\n")
        run = Run(model)
        self.assertEqual(run.code, 5)
        self.assertIn("x^2 + y^2 = 1", run.words)
        self.assertEqual(run.json["status"], "init")

    def test_operators_without_numbers(self):
        """What cannot be run is refused by name; it has no value that could stand for it."""
        for text in ("y = f(x);", "b = f(x) > 0; y = 1;", "when time > 0.5 then z = f(time); end when; y = 1;",
                     "when f(x) > 2 then z = 1; end when; y = 1;", "assert(f(x) > 2, \"no\"); y = 1;"):
            declared = " Boolean b;" * ("b =" in text) + " discrete Real z;" * ("z =" in text)
            run = Run("model M\n function f\n input Real x; output Real y;\n external \"C\";\n end f;\n"
                      f" Real x(start=1, fixed=true), y;{declared}\nequation\n der(x) = -x;\n {text}\nend M;\n")
            self.assertEqual((run.code, run.json["status"]), (3, "input"), run.words)
            self.assertIn("`f` cannot be run", run.words)

    def test_assertions(self):
        text = 'model M\n Real x(start=1, fixed=true);\nequation\n der(x) = -x;\n assert(x > %s, "small"%s);\nend M;\n'
        run = Run(text % (0.5, ""))
        self.assertEqual(run.code, 6)
        self.assertIn("assertion failed at time", run.words)
        self.assertIn("small", run.words)
        self.assertEqual(Run(text % (0.1, "")).code, 0)
        self.assertEqual(Run(text % (2, "")).code, 5)
        run = Run(text % (0.5, ", AssertionLevel.warning"))
        self.assertEqual((run.code, run.words.count("warning: at time")), (0, 1))

    def test_left_limits(self):
        """pre() of a continuous variable in a when is its value before the event, also where the event changes it."""
        run = Run("model M\n Real x(start=0, fixed=true), y, v(start=1, fixed=true), w(start=2, fixed=true);\n"
                  " discrete Real z(start=0, fixed=true), q(start=0, fixed=true), first;\nequation\n"
                  " der(x) = 1; der(v) = 0; der(w) = 0; y = if x > 0.5 then 2 else 1;\n"
                  " when x > 0.5 then z = pre(y); q = y; reinit(v, pre(w)); reinit(w, pre(v)); end when;\n"
                  " when initial() then first = pre(v) + 1; end when;\nend M;\n")
        self.assertEqual(run.code, 0, run.words)
        self.assertEqual([run[name][-1] for name in ("y", "z", "q", "v", "w", "first")], [2, 1, 2, 2, 1, 2])

    def test_assigned_parameters(self):
        """Initial algorithms determine Boolean, Integer and enumeration parameters, and what is bound to them."""
        text = ("model M\n type C = enumeration(red, green);\n parameter Boolean b(fixed=false);\n"
                " parameter Integer n(fixed=false, start=1), m = 2*n;\n parameter Real r(fixed=false), g = if b then 3 else 5;\n"
                " parameter C c(fixed=false);\n Real x(start=1, fixed=true), y, q;\ninitial algorithm\n"
                " r := 2; n := if r > 1.5 then 4 else 7; b := false; if n > 3 then b := true; end if; c := C.green;\n"
                "equation\n der(x) = -g*x; y = m + n; if b then q = x; else q = if c == C.red then 7 else -x; end if;\nend M;\n")
        for options, total in (((), 12), (("--override", "m=100"), 104), (("--method", "none"), 12)):
            run = Run(text, *options)
            self.assertEqual(run.code, 0, run.words)
            self.assertEqual((run["y"][-1], run["q"][0], run["der(x)"][0]), (total, 1, -3))

    def test_initial_sections(self):
        """initial(), sample and the like in initial sections have the values of the start."""
        for text, value in (("equation x = if initial() then 3 else 4;", 3), ("equation x = if sample(0, 1) then 3 else 4;", 4),
                            ("equation x = if edge(b) then 3 else 4;", 4), ("equation x = delay(y, 1);", 2),
                            ("algorithm if initial() then x := 5; else x := 6; end if;", 5),
                            ("equation x = if change(b) then 3 else delay(y, 0.5) + 1;", 3),
                            ("algorithm x := if terminal() or sample(0, 1) then 3 else y;", 2)):
            run = Run("model M\n Real x, y(start=2, fixed=true); Boolean b(start=false, fixed=true);\nequation\n der(x) = -x; der(y) = -y;\n"
                      f" when sample(0.25, 0.25) then b = not pre(b); end when;\ninitial {text}\nend M;\n")
            self.assertEqual(run.code, 0, run.words)
            self.assertEqual(run["x"][0], value, text)

    def test_unknown_override(self):
        run = Run(example("pendulum"), "--override", "nothing=1")
        self.assertEqual(run.code, 2)
        self.assertIn("nothing", run.words)


class Determinism(unittest.TestCase):
    def test_order_of_equations(self):
        """Reordering equations and renaming variables changes the result by round-off only."""
        first = ("model M\n Real x(start=1, fixed=true); Real y(start=0); Real u(start=0, fixed=true); Real v(start=0); Real s;\nequation\n"
                 " der(x) = u;\n der(y) = v;\n der(u) = -s*x;\n der(v) = -s*y - 1;\n x^2 + y^2 = 1;\nend M;\n")
        second = ("model M\n Real c; Real q(start=0, fixed=true); Real b(start=0); Real p(start=0); Real a(start=1, fixed=true);\nequation\n"
                  " b^2 + a^2 = 1;\n der(p) = -c*b - 1;\n der(b) = p;\n der(q) = -c*a;\n der(a) = q;\nend M;\n")
        one, two = Run(first, "--stop-time", 10, "--tolerance", 1e-10), Run(second, "--stop-time", 10, "--tolerance", 1e-10)
        self.assertEqual(one.code, 0, one.words)
        self.assertEqual(two.code, 0, two.words)
        self.assertLess(max(abs(a - b) for a, b in zip(one["x"], two["a"])), 1e-9)
        self.assertEqual(len(one.json["pivots"]), len(two.json["pivots"]))


if __name__ == "__main__":
    unittest.main(verbosity=1)
