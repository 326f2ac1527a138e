"""Structurally regular but singular: conversions, redundant equations, zero parameters, turning points.

Single models are in cases/singular and cases/strangeness. Here are families: index 1 with a high structural index (Reissig,
Martinson, Barton 2000), and random linear models of known index."""
import csv
import json
import math
import os
import random
import re
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
SOURCE = os.environ["SOURCE_DIR"]
WORK = tempfile.mkdtemp()


def command(verb, model, *options):
    report, table = os.path.join(WORK, "r.json"), os.path.join(WORK, "t.csv")
    for path in (report, table):
        if os.path.exists(path):
            os.remove(path)
    arguments = [DAEDAL, verb, model, "--json", report] + [str(o) for o in options]
    if verb == "simulate":
        arguments += ["--output-file", table]
    done = subprocess.run(arguments, capture_output=True, text=True)
    with open(report) as file:
        done.json = json.load(file)
    done.rows = []
    if os.path.exists(table):
        with open(table) as file:
            done.rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    return done


def written(text):
    path = os.path.join(WORK, "m.mo")
    with open(path, "w") as file:
        file.write(text)
    return path


class Models(unittest.TestCase):
    def test_transistor_amplifier(self):
        with open(os.path.join(SOURCE, "bench", "ivp", "reference.json")) as file:
            reference = json.load(file)["transamp"]["reference"]
        run = command("simulate", os.path.join(SOURCE, "examples", "transamp.mo"), "--tolerance", 1e-9)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.json["states"], 5)
        for name, value in reference.items():
            self.assertLess(abs(run.json["final"][name] - value), 1e-5 * (1 + abs(value)), name)


class Verdicts(unittest.TestCase):
    """`singular_blocks` of analyze: identically singular, singular at the start values only, regular."""

    def blocks(self, path, *options):
        return command("analyze", path, *options).json["singular_blocks"]

    def test_capacitor_loop(self):
        """The pairs of capacitors of the transistor amplifier."""
        pairs = self.blocks(os.path.join(SOURCE, "examples", "transamp.mo"))
        self.assertGreaterEqual(len(pairs), 3)
        self.assertEqual({b["verdict"] for b in pairs}, {"identical"})

    def test_regular(self):
        for name in ("pendulum", "andrews", "wheelset", "caraxis", "chemakzo", "water", "slider_crank"):
            analysis = command("analyze", os.path.join(SOURCE, "examples", name + ".mo")).json
            self.assertTrue(analysis["regular"], name)
            self.assertEqual([b for b in analysis["singular_blocks"] if b["verdict"] != "here"], [], name)


class ComputedZeros(unittest.TestCase):
    """A capacitance that is zero because a parameter is zero: as a product, as a sum of products, through other variables."""

    def model(self, rng):
        chain = ["c0 = p*exp(v)"]
        for k in range(1, rng.randint(2, 5)):
            value = rng.choice((f"c{k - 1}*(1 + v^2)", f"c{k - 1} + p*sin(v + {k})", f"{rng.randint(2, 9)}*c{k - 1}"))
            chain.append(f"c{k} = {value}")
        last = len(chain) - 1
        rows = chain + [f"i = c{last}*der(v)" if rng.random() < 0.5 else f"i - c{last}*(der(v) - der(w)) = 0", "i = sin(time) - 2*v", "der(w) = -w"]
        rng.shuffle(rows)
        names = ", ".join(f"c{k}" for k in range(last + 1))
        return "model Zero\n  parameter Real p = 0;\n  Real v, w(start = 1, fixed = true), i, " + names + ";\nequation\n  " + ";\n  ".join(rows) + ";\nend Zero;\n"

    def test_family(self):
        for seed in range(12):
            path = written(self.model(random.Random(seed)))
            run = command("simulate", path)
            self.assertEqual(run.returncode, 0, run.stderr)
            for row in run.rows:
                self.assertAlmostEqual(row["v"], math.sin(row["time"]) / 2, delta=1e-6)
            run = command("simulate", path, "--override", "p=1,v=0.5")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotAlmostEqual(run.rows[0]["v"], 0, delta=0.1)


class HighStructuralIndex(unittest.TestCase):
    """x[2i]' + x[2i+1]' + x[2i-1] = f, the same + x[2i] = g, ..., x[2k+1] = sin t: index 1, structural index k + 1."""

    def model(self, k):
        n = 2 * k + 1
        text = "model R\n" + "".join(f"  Real x{i}{'(start = 0, fixed = true)' if i % 2 == 0 else ''};\n" for i in range(1, n + 1)) + "equation\n"
        for i in range(1, k + 1):
            for j in (2 * i - 1, 2 * i):
                text += f"  der(x{2 * i}) + der(x{2 * i + 1}) + x{j} = sin(time) + 2*cos(time);\n"
        return text + f"  x{n} = sin(time);\nend R;\n"

    def test_family(self):
        for k in (1, 2, 5, 11):
            path = written(self.model(k))
            self.assertEqual(command("analyze", path).json["structural_index"], k + 1)
            for method in ("dummy", "strangeness"):
                run = command("simulate", path, "--method", method, "--tolerance", 1e-9)
                self.assertEqual(run.returncode, 0, run.stderr)
                for row in run.rows:
                    for i in range(1, 2 * k + 2):
                        self.assertLess(abs(row[f"x{i}"] - math.sin(row["time"])), 1e-6, method)
                if method == "strangeness":
                    values = run.json["strangeness"]
                    self.assertEqual([values[key] for key in ("mu", "a", "d", "v", "u")], [0, k + 1, k, 0, 0])


def ladder(n, grounded):
    """n nodes of a ladder of resistors and capacitors over a rail; without ground one of Kirchhoff's laws follows from the others."""
    text = f"model Ladder\n  parameter Real R = 1, C = 0.01;\n  Real v[{n}], i[{n}], c[{n}], u[{n}], s, b;\nequation\n"
    text += "  v[1] - b = sin(time);\n  i[%d] = 0;\n  s = i[1] + c[1];\n" % n
    text += "".join(f"  v[{k}] - v[{k + 1}] = R*i[{k}];\n  i[{k}] = i[{k + 1}] + c[{k + 1}];\n" for k in range(1, n))
    text += "".join(f"  u[{k}] = v[{k}] - b;\n  C*der(u[{k}]) = c[{k}];\n" for k in range(1, n + 1))
    last = "b = 0" if grounded else " + ".join(f"c[{k}]" for k in range(1, n + 1)) + " = s"
    return text + f"  {last};\n  annotation(experiment(StopTime = 1, Tolerance = 1e-8));\nend Ladder;\n"


def chain(n):
    """g(z1), g(z) = z + z^3, turns at k*pi/2: y' = g(z1), y^2 + (k*g(z1))^2 = 1; the other z depend on it in one block of n. Also
    returns k."""
    u = [0, 1] + [0] * n
    for _ in range(100):
        for i in range(2, n + 1):
            u[i] = 0.5 * u[i - 1] + 0.1 * (u[i + 1] if i < n else u[1])

    def g(i):
        return f"(z[{i}] + z[{i}]^3)"

    text = f"model Chain\n  Real y(start = 0, fixed = true), z[{n}](each start = 0.3);\nequation\n  der(y) = {g(1)};\n"
    text += f"  y^2 + ({g(1)} + 0.01*{g(n)})^2 = 1;\n"
    text += "".join(f"  {g(i)} = 0.5*{g(i - 1)} + 0.1*{g(i % n + 1)};\n" for i in range(2, n + 1))
    return text + "  annotation(experiment(StopTime = 3));\nend Chain;\n", 1 + 0.01 * u[n]


def pair_in_ring(n):
    """A ring of n derivatives in which equation 6 is 1 + x1^2 times equation 5, except for x6 = sin(time)."""
    text = f"model Ring\n  Real x[{n}](each start = 1);\nequation\n"
    for i in range(1, n + 1):
        five = f"der(x[5]) + 0.1*sin(x[5])*der(x[6]) + 0.2*der(x[{n // 2}])"
        text += {5: f"  {five} = -x[5];\n", 6: f"  (1 + x[1]^2)*({five} + x[5]) + x[6] = sin(time);\n",
                 7: "  der(x[7]) + 0.1*sin(x[7])*der(x[8]) + 0.3*der(x[6]) = -x[7];\n"}.get(
                     i, f"  der(x[{i}]) + 0.1*sin(x[{i}])*der(x[{i % n + 1}]) = -x[{i}];\n")
    return text + "end Ring;\n"


class Large(unittest.TestCase):
    def test_ungrounded_ladder(self):
        """2000 nodes: the redundant law of the whole circuit is found, and the currents are those of the grounded circuit."""
        for n in (30, 2000):
            free, grounded = (command("simulate", written(ladder(n, g)), "--intervals", 2, "-q") for g in (False, True))
            self.assertEqual(free.returncode, 0, free.stderr[:500])
            self.assertEqual([c["kind"] for c in free.json["conversions"]][-1], "redundant")
            self.assertEqual(free.json["states"], grounded.json["states"])
            for name in ("s", "i[1]", "i[5]", "u[2]", f"u[{n}]"):
                self.assertLess(abs(free.json["final"][name] - grounded.json["final"][name]), 1e-6, name)

    def test_messages_stay_short(self):
        run = subprocess.run([DAEDAL, "simulate", written(ladder(200, False)), "--intervals", "2", "--output-file", os.path.join(WORK, "t.csv")],
                             capture_output=True, text=True)
        self.assertLess(max(len(line) for line in run.stderr.splitlines() if "warning" in line), 400)

    def test_turning_point(self):
        for n in (10, 150, 1000):
            text, k = chain(n)
            run = command("simulate", written(text), "-q")
            self.assertEqual(run.returncode, 6)
            self.assertLess(abs(run.json["singular"]["time"] - k * math.pi / 2), 1e-6)
            self.assertEqual(run.json["singular"]["rank"], n - 1)

    def test_small_dependence_in_a_large_block(self):
        for n in (100, 1000):
            path = written(pair_in_ring(n))
            block = command("analyze", path).json["singular_blocks"][0]
            self.assertGreater(len(block["equations"]), n // 2)
            self.assertEqual(block["verdict"], "identical")
            run = command("simulate", path, "--intervals", 2, "-q")
            self.assertEqual([c["after"] for c in run.json["conversions"]], ["x[6] - sin(time) = 0"])
            self.assertLess(abs(run.json["final"]["x[6]"] - math.sin(1)), 1e-6)


def unimodular(n, rng, steps):
    """A product of elementary integer matrices, and its inverse."""
    m = [[int(i == j) for j in range(n)] for i in range(n)]
    inverse = [row[:] for row in m]
    for _ in range(steps):
        i, j = rng.sample(range(n), 2)
        c = rng.choice([-2, -1, 1, 2])
        m[i] = [a + c * b for a, b in zip(m[i], m[j])]
        for row in inverse:
            row[j] -= c * row[i]
    return m, inverse


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


class Kronecker:
    """P diag(I, N) Q x' = P diag(J, I) Q x - P g: d decaying states and nilpotent blocks up to the index, both hidden by P and Q."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.n = rng.randint(2, 30)
        self.index = min(rng.randint(0, 5), self.n)
        self.sizes, rest = ([self.index], self.n - self.index) if self.index else ([], self.n)
        while rest and self.index and rng.random() < 0.5:
            self.sizes.append(rng.randint(1, min(self.index, rest)))
            rest -= self.sizes[-1]
        self.d = rest
        n, d = self.n, self.d
        self.rate = [-rng.randint(1, 8) / 4 for _ in range(d)]
        self.first = [rng.randint(-4, 4) / 2 for _ in range(d)]
        self.wave = [(rng.choice([1, 2, -1]), rng.choice([0.5, 1, 2]), rng.randint(0, 6) / 2) for _ in range(n)]
        e = [[int(i == j and i < d) for j in range(n)] for i in range(n)]
        a = [[(self.rate[i] if i < d else 1) if i == j else 0 for j in range(n)] for i in range(n)]
        at = d
        for size in self.sizes:
            for k in range(at, at + size - 1):
                e[k][k + 1] = 1
            at += size
        self.p, _ = unimodular(n, rng, rng.choice([n, 3 * n]))
        q, self.back = unimodular(n, rng, rng.choice([n, 3 * n]))
        self.e, self.a = product(product(self.p, e), q), product(product(self.p, a), q)

    def forcing(self, k, order, t):
        amplitude, frequency, phase = self.wave[k]
        return amplitude * frequency**order * math.sin(frequency * t + phase + order * math.pi / 2)

    def solution(self, t):
        y, at = [c * math.exp(r * t) for c, r in zip(self.first, self.rate)], self.d
        for size in self.sizes:
            y += [sum(self.forcing(at + k + m, m, t) for m in range(size - k)) for k in range(size)]
            at += size
        return [sum(x * z for x, z in zip(row, y)) for row in self.back]

    def text(self):
        def linear(row, form):
            return " + ".join(f"({c})*" + form.format(j + 1) for j, c in enumerate(row) if c) or "0"

        start = self.solution(0)
        text = "model K\n" + "".join(f"  Real x{i + 1}(start = {v!r});\n" for i, v in enumerate(start)) + "equation\n"
        for i in range(self.n):
            waves = "".join(f" - ({self.p[i][k]})*({self.wave[k][0]})*sin({self.wave[k][1]}*time + {self.wave[k][2]})"
                            for k in range(self.d, self.n) if self.p[i][k])
            text += f"  {linear(self.e[i], 'der(x{})')} = {linear(self.a[i], 'x{}')}{waves};\n"
        return text + "  annotation(experiment(StopTime = 1, Tolerance = 1e-8));\nend K;\n"


class Strangeness(unittest.TestCase):
    """Method strangeness: characteristic values, and the same solutions without any structure."""

    def values(self, run):
        self.assertEqual(run.returncode, 0, run.stderr)
        return tuple(run.json["strangeness"][key] for key in ("mu", "a", "d", "v", "u"))

    def same_as_dummy(self, name, method, *options):
        path = os.path.join(SOURCE, "examples", name + ".mo")
        first, second = (command("simulate", path, "--method", m, "--tolerance", 1e-8, *o) for m, o in
                         (("dummy", ()), (method, options)))
        self.assertEqual(second.returncode, 0, second.stderr)
        near = 2e-3 if name == "water" else 1e-4  # Reynolds numbers are flows times 1e6, and the tolerance of flows is absolute
        for key, value in first.json["final"].items():
            if key in second.json["final"] and not key.startswith("der"):
                self.assertLess(abs(second.json["final"][key] - value), near * (1 + abs(value)), (name, key))
        return second

    def test_examples(self):
        """Structural analysis is right about these: the array is reduced, for any size; water has events."""
        for name in ("andrews", "caraxis", "double_pendulum", "reactor", "slider_crank", "spherical_pendulum", "triple_pendulum", "water"):
            with self.subTest(name):
                run = self.same_as_dummy(name, "strangeness", "--solver", "radau")
                self.assertEqual((run.json["strangeness"]["array"], run.json["strangeness"]["initial"]), ("reduced", "structure"))

    def test_structure_lies(self):
        run = self.same_as_dummy("transamp", "strangeness", "--solver", "radau")
        self.assertEqual((run.json["strangeness"]["array"], run.json["strangeness"]["initial"]), ("reduced by ranks", "structure"))

    def test_pendulums_by_ranks_alone(self):
        """The pendulums swing through x = 0 and back with all solvers. Without the redundant equation, the other methods run both models."""
        folder = os.path.join(SOURCE, "tests", "cases", "strangeness")
        for name, drop in (("mixed", "$^"), ("velocity", r".*x\*vx.*\n")):
            with open(os.path.join(folder, name + ".mo")) as file:
                text = file.read()
            reference = command("simulate", written(re.sub(drop, "", text)), "--tolerance", 1e-10)
            self.assertEqual(reference.returncode, 0, reference.stderr)
            for solver in ("erk", "radau", "bdf"):
                with self.subTest(name + " " + solver):
                    run = command("simulate", os.path.join(folder, name + ".mo"), "--method", "strangeness", "--solver", solver)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    for key in ("x", "y", "vx", "vy"):
                        self.assertLess(abs(run.json["final"][key] - reference.json["final"][key]), 1e-4, key)

    def test_solvers(self):
        for solver in ("erk", "radau", "bdf"):
            for name in ("pendulum", "transamp"):
                with self.subTest(solver + " " + name):
                    self.same_as_dummy(name, "strangeness", "--solver", solver)

    def test_work(self):
        """A multistep method needs no more residual evaluations per step than GENDA's 4.0, and far less than one factorization per step."""
        steps = factorizations = 0
        for name in ("hessenberg2", "hessenberg3", "hessenberg4", "miller", "paraboloid"):
            path = os.path.join(SOURCE, "tests", "cases", "papers", f"kunkel_{name}.mo")
            run = command("simulate", path, "--method", "strangeness", "--solver", "bdf", "--tolerance", 1e-8)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertLessEqual(run.json["residual_evals"], 4.0 * run.json["steps"], name)
            steps, factorizations = steps + run.json["steps"], factorizations + run.json["factorizations"]
        self.assertLess(factorizations, 0.5 * steps)

    def test_high_structural_index(self):
        """Index 1 with structural index 12: mu is 0."""
        k = 11
        starts = ",".join(f"x{2 * i}=0" for i in range(1, k + 1))
        run = command("simulate", written(HighStructuralIndex().model(k)), "--override", starts, "--method", "strangeness",
                      "--tolerance", 1e-8)
        self.assertEqual(self.values(run), (0, k + 1, k, 0, 0))
        for row in run.rows:
            for i in range(1, 2 * k + 2):
                self.assertLess(abs(row[f"x{i}"] - math.sin(row["time"])), 1e-6)

    def test_conflict_of_initial_values(self):
        """Method strangeness names the conflict as the other methods do."""
        path = os.path.join(SOURCE, "tests", "cases", "init", "pendulum_conflict.mo")
        first, second = (command("simulate", path, "--method", m) for m in ("dummy", "strangeness"))
        self.assertEqual((first.returncode, second.returncode), (5, 5))
        self.assertIn("fixed", second.stderr)

    def test_family(self):
        """Index, a and d of random linear models are right in 99 of 100 at least; no trajectory is wrong."""
        right = 0
        for seed in range(100):
            model = Kronecker(seed)
            run = command("simulate", written(model.text()), "-q", "--intervals", 4, "--method", "strangeness")
            if run.returncode:
                continue
            end = model.solution(1)
            for i, value in enumerate(end):
                self.assertLess(abs(run.json["final"][f"x{i + 1}"] - value), 1e-4 * (1 + max(map(abs, end))), seed)
            right += self.values(run) == (max(model.index - 1, 0), model.n - model.d, model.d, 0, 0)
        self.assertGreaterEqual(right, 99)

    def test_many_blocks(self):
        """Ranks are decided block by block: n copies of a block have n times the ranks of one block, and each copy has the solution of the block. The
        structure of the first two is wrong (the second has an event), that of the third is right."""
        blocks = {
            "rewritten": ("Real x[n], y[n];", "der(x[k]) + time*der(y[k]) = k*sin(time); x[k] + time*y[k] = k*cos(time);"),
            "switched": ("Real x[n], y[n], s[n](each start = 0, each fixed = true);",
                         "der(x[k]) + time*der(y[k]) = sin(time); x[k] + time*y[k] = cos(time); der(s[k]) = if time > 0.5 then 1 else y[k];"),
            "index 3": ("Real x[n], u[n], f[n];", "der(x[k]) = u[k]; der(u[k]) = f[k] - x[k]; x[k] = sin(time + k);"),
        }
        for name, (declared, equations) in blocks.items():
            with self.subTest(name):
                model = "model M parameter Integer n = {}; {} equation for k in 1:n loop {} end for; end M;"
                one, many = (command("simulate", written(model.format(n, declared, equations)), "--method", "strangeness", "-q", "--intervals", 1)
                             for n in (1, 600))
                mu, a, d, v, u = self.values(one)
                self.assertEqual(self.values(many), (mu, 600 * a, 600 * d, v, u))
                for key, value in one.json["final"].items():
                    self.assertAlmostEqual(many.json["final"][key], value, delta=1e-4 * (1 + abs(value)))

    def test_chain_of_blocks(self):
        """Blocks that depend on each other, 1500 equations: the same solution as by dummy derivatives."""
        path = written("""model M parameter Integer n = 500; Real x[n], y[n], z[n];
          equation der(x[1]) = y[1]; x[1] = sin(time); z[1] = x[1] + y[1];
          for k in 2:n loop der(x[k]) = y[k] - x[k]; x[k] = 0.5*z[k - 1]; der(z[k]) = x[k] - z[k]; end for; end M;""")
        first, second = (command("simulate", path, "--method", m, "-q", "--intervals", 1, "--tolerance", 1e-8) for m in ("dummy", "strangeness"))
        self.assertEqual(self.values(second), (2, 1001, 499, 0, 0))
        for key, value in first.json["final"].items():
            self.assertLess(abs(second.json["final"][key] - value), 1e-5 * (1 + abs(value)), key)

    def test_block_too_large(self):
        """A block too large for dense ranks is named."""
        path = written("""model M parameter Integer n = 500; Real x[n], y[n];
          equation for k in 1:n loop der(x[k]) + time*der(y[k]) = sin(time) + sum(x); x[k] + time*y[k] = cos(time); end for; end M;""")
        run = command("simulate", path, "--method", "strangeness")
        self.assertEqual(run.returncode, 4)
        self.assertIn("a block of the derivative array has 1000 rows and 2000 columns, of x[1] among others", run.stderr)


class RandomLinear(unittest.TestCase):
    def test_family(self):
        """At least 99 of 100 are right; the others are refused, so none is wrong."""
        right = 0
        for seed in range(100):
            model = Kronecker(seed)
            run = command("simulate", written(model.text()), "-q", "--intervals", 4)
            if run.returncode:
                continue
            end = model.solution(1)
            for i, value in enumerate(end):
                self.assertLess(abs(run.json["final"][f"x{i + 1}"] - value), 1e-5 * (1 + max(map(abs, end))), seed)
            right += run.json["states"] == model.d
        self.assertGreaterEqual(right, 99)


if __name__ == "__main__":
    unittest.main()
