"""Regular linear DAEs of known index 1 to 3 and known solution, hidden by unimodular P(t), Q(t): structural analysis is wrong about
most of them.

N z' + z = g(t) together with z' = rate*z is a DAE of known index. Columns and rows are mixed by elementary matrices whose factors are
functions of time, many of which are zero at one time of the run or at its start. This does not change the index, but equations
rewritten with such a factor hold only where it is not zero. The default runs nearly all of them, by ranks if it must (and says so), and so does method strangeness; no answer is wrong.

Wide runs: see runs.py."""
import math
import os
import random
import subprocess
import tempfile
import unittest

from runs import IS_WIDE, Tally, by_turns, seeds, simulate

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
METHODS = ("dummy", "strangeness")
STOP = 3

# Further systems, one for each cause of trouble. A pivot passes zero on the way. The rest of a sum is small compared with a chain of pivots. The
# rewritten equations are singular at the start, or have other initial values. The choice of states is singular at an output point.
# If ranks are computed, a pivot consists of round-off. Higher derivatives have a pole at an output point. A divisor of the
# equations passes zero between two steps.
OTHERS = (290, 703, 128, 398, 5390, 5663, 5810, 659, 802655, 809261, 808286, 9860968)


def random_function(rng):
    """A function of time and its derivative, as texts."""
    w = rng.choice([0.5, 1, 2])
    return rng.choice([(f"sin({w}*time)", f"({w}*cos({w}*time))"), (f"cos({w}*time)", f"(-{w}*sin({w}*time))"),
                       (f"({w}*time - 0.5)", f"{w}"), (f"exp(-{w}*time)", f"(-{w}*exp(-{w}*time))")])


def add(a, b):
    return b if a == "0" else a if b == "0" else f"{a} + {b}"


def multiply(factor, a):
    return "0" if a == "0" else factor if a == "1" else f"{factor}*({a})"


class Hidden:
    """E x' + A x = f with texts for entries."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.index = 1 + seed % 3
        self.sizes = [self.index] + [rng.randint(1, self.index) for _ in range(rng.randint(0, 1))]
        self.d = rng.randint(1, 2)
        self.n = self.d + sum(self.sizes)
        self.rate = [-rng.randint(1, 4) / 4 for _ in range(self.d)]
        self.first = [rng.randint(-4, 4) / 2 or 1 for _ in range(self.d)]
        self.wave = [(rng.choice([1, 2, -1]), rng.choice([0.5, 1, 2]), rng.randint(0, 6) / 2) for _ in range(self.n)]
        self.canonical()
        self.moves = [(*rng.sample(range(self.n), 2), *random_function(rng)) for _ in range(rng.choice([self.n - 1, 2 * self.n]))]
        for move in self.moves:
            self.mix_columns(*move)
        for _ in range(rng.choice([self.n - 1, 2 * self.n])):
            self.mix_rows(*rng.sample(range(self.n), 2), random_function(rng)[0])

    def canonical(self):
        n, d = self.n, self.d
        self.e = [["1" if i == j < d else "0" for j in range(n)] for i in range(n)]
        self.a = [["0" if i != j else repr(-self.rate[i]) if i < d else "1" for j in range(n)] for i in range(n)]
        self.f = ["0"] * d + ["%s*sin(%s*time + %s)" % self.wave[k] for k in range(d, n)]
        at = d
        for size in self.sizes:
            for k in range(at, at + size - 1):
                self.e[k][k + 1] = "-1"
            at += size

    def mix_columns(self, i, j, q, rate):
        """z[i] = x[i] - q*x[j]."""
        for e, a in zip(self.e, self.a):
            a[j] = add(add(a[j], multiply(f"(-{q})", a[i])), multiply(f"(-{rate})", e[i]))
            e[j] = add(e[j], multiply(f"(-{q})", e[i]))

    def mix_rows(self, i, j, p):
        for m in (self.e, self.a):
            m[i] = [add(x, multiply(p, y)) for x, y in zip(m[i], m[j])]
        self.f[i] = add(self.f[i], multiply(p, self.f[j]))

    def forcing(self, k, order, t):
        amplitude, frequency, phase = self.wave[k]
        return amplitude * frequency**order * math.sin(frequency * t + phase + order * math.pi / 2)

    def solution(self, t):
        x, at = [c * math.exp(r * t) for c, r in zip(self.first, self.rate)], self.d
        for size in self.sizes:
            x += [sum(self.forcing(at + k + m, m, t) for m in range(size - k)) for k in range(size)]
            at += size
        scope = {"sin": math.sin, "cos": math.cos, "exp": math.exp, "time": t}
        for i, j, q, _ in self.moves:
            x[i] += eval(q, {}, scope) * x[j]
        return x

    def text(self):
        text = "model H\n" + "".join(f"  Real x{i + 1}(start = {v!r});\n" for i, v in enumerate(self.solution(0))) + "equation\n"
        for e, a, f in zip(self.e, self.a, self.f):
            terms = [f"({m})*{form.format(c + 1)}" for row, form in ((e, "der(x{})"), (a, "x{}")) for c, m in enumerate(row) if m != "0"]
            text += "  " + " + ".join(terms) + f" = {f};\n"
        return text + f"  annotation(experiment(StopTime = {STOP}, Tolerance = 1e-8));\nend H;\n"


class HiddenStructure(unittest.TestCase):
    def check(self, method):
        """The number of models that were run by ranks."""
        tally, by_ranks = Tally(f"hidden structure, {method}"), 0
        for seed in [*seeds(60), *OTHERS]:
            if method not in by_turns(METHODS, seed): continue
            model = Hidden(seed)
            run, end = simulate(model.text(), method=method, intervals=4), model.solution(STOP)
            tally.add(run, lambda: all(abs(run.end(f"x{i + 1}") - value) < 1e-4 * (1 + max(map(abs, end))) for i, value in enumerate(end)), seed)
            if run.status == 0 and method == "dummy" and run.report["method"] == "strangeness":
                self.assertIn("method strangeness takes its place", run.words)
                by_ranks += 1
        tally.check(self, 0.02)
        return by_ranks

    def test_default(self):
        self.assertGreaterEqual(self.check("dummy"), 0 if IS_WIDE else 4)

    def test_strangeness(self):
        self.check("strangeness")


class OtherCommands(unittest.TestCase):
    """init, export and the reference run of compare use ranks in the same cases as simulate; reduce says why it prints nothing."""

    def run_command(self, path, command, *options):
        return subprocess.run([DAEDAL, command, path, *options], capture_output=True, text=True, cwd=WORK)

    def test_fall_back(self):
        path = os.path.join(WORK, "o.mo")
        for seed in (128, 398):
            with open(path, "w") as file:
                file.write(Hidden(seed).text())
            for command, *options in (["init"], ["export", "--c", os.path.join(WORK, "c")]):
                run = self.run_command(path, command, *options)
                self.assertEqual(run.returncode, 0, (seed, command, run.stderr))
                self.assertIn("method strangeness takes its place", run.stderr)
            compared = self.run_command(path, "compare", "--methods", "strangeness", "--intervals", "4")
            self.assertIn("difference from method strangeness", compared.stdout)
            reduced = self.run_command(path, "reduce")
            self.assertEqual(reduced.returncode, 4)
            self.assertIn("no equations to print", reduced.stdout + reduced.stderr)


if __name__ == "__main__":
    unittest.main()
