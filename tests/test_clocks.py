"""Clocks: the examples against recursions and closed forms, and generated chains of operators against schedules in fractions.
Single models, and those that must be refused, are in cases/clocks.

DAEDAL_CLOCK_MODELS sets the number of chains, 24 by default."""
import csv
import math
import os
import random
import subprocess
import tempfile
import unittest
from fractions import Fraction

DAEDAL = os.environ["DAEDAL"]
EXAMPLES = os.path.join(os.environ["SOURCE_DIR"], "examples", "clocks")
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_CLOCK_MODELS", "8" if os.environ.get("BUILD_KIND") == "asan" else "24"))


def command(*arguments):
    return subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)


def write(text, name="m.mo"):
    path = os.path.join(WORK, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def simulate(path, *options):
    run = command("simulate", path, "--output-file", "-", "-q", *options)
    if run.returncode:
        raise AssertionError(run.stderr)
    rows = list(csv.reader(run.stdout.splitlines()))
    return [dict(zip(rows[0], map(float, row))) for row in rows[1:]]


def example(name, *options):
    return simulate(os.path.join(EXAMPLES, name + ".mo"), *options)


def behind(rows):
    """The last row of each time: the values from then on."""
    return [row for row, after in zip(rows, rows[1:] + [None]) if after is None or after["time"] > row["time"]]


def at(rows, time):
    """The last row at or before this time."""
    return [row for row in rows if row["time"] <= time + 1e-9][-1]


class Examples(unittest.TestCase):
    def near(self, found, expected, tolerance=1e-6):
        self.assertLessEqual(abs(found - expected), tolerance * max(1, abs(expected)))

    def test_sampled_pi(self):
        rows = example("sampled_pi", "--tolerance", "1e-10")
        h, a = 0.02, math.exp(-0.2 / 0.5 * 0.02)
        w = x = 0
        for k in range(100):
            error = 1 - w
            x += error * h / 0.4
            u = 3 * (error + x)
            row = at(rows, k * h)
            for name, value in (("w", w), ("x", x), ("u", u), ("torque", u)):
                self.near(row[name], value, 1e-8)
            w = a * w + (1 - a) / 0.2 * u

    def test_multirate_cascade(self):
        rows = example("multirate_cascade", "--tolerance", "1e-10")
        h, J, T = 0.01, 0.1, 0.05
        phi = w = x = 0
        for k in range(150):
            if k % 5 == 0:
                reference = 4 * (1 - phi)
            error = reference - w
            x += error * h / T
            u = 2 * (error + 0.1 * x)
            row = at(rows, k * h)
            for name, value in (("phi", phi), ("w", w), ("reference", reference), ("u", u)):
                self.near(row[name], value, 1e-8)
            phi, w = phi + w * h + u / J * h * h / 2, w + u / J * h

    def test_crank_angle(self):
        """phi = 5 t + 4 t^2 = 2 pi k"""
        rows = example("crank_angle", "--tolerance", "1e-10")
        times = [0] + [(-5 + math.sqrt(25 + 16 * 2 * math.pi * k)) / 8 for k in range(1, 9)]
        self.assertEqual(at(rows, times[1] - 1e-6)["turns"], 0)
        for k in range(1, 9):
            row = at(rows, times[k] + 1e-6)
            self.assertEqual(row["turns"], k)
            self.near(row["period"], times[k] - times[k - 1], 1e-8)
            self.near(row["mean"], 2 * math.pi / (times[k] - times[k - 1]), 1e-7)

    def test_discretized_filter(self):
        """The trapezoidal rule, solved by hand."""
        rows = example("discretized_filter")
        h, omega = 0.01, 4 * math.pi
        x = v = 0
        rate = lambda x, v, u: (v, omega**2 * (u - x) - 1.4 * omega * v)
        for k in range(100):
            u = 1 if k <= 25 else -0.5  # the left limit at the jump
            if k:
                dx, dv = before
                p, q = x + h / 2 * dx, v + h / 2 * (dv + omega**2 * u)
                v = (q - h / 2 * omega**2 * p) / (1 + h / 2 * 1.4 * omega + (h / 2 * omega) ** 2)
                x = p + h / 2 * v
            before = rate(x, v, u)
            row = at(rows, k * h)
            self.near(row["u"], u)
            self.near(row["x"], x, 1e-9)
            self.near(row["v"], v, 1e-9)
            self.near(row["y"], x, 1e-9)

    def test_moving_average(self):
        rows = example("moving_average")
        u = lambda t: math.sin(6 * t) + 0.3 * math.sin(170 * t)
        for k in range(33):
            mean = sum(u(0.03 * i) for i in range(max(0, k - 3), k + 1)) / 4
            self.near(at(rows, 0.03 * k)["y"], mean, 1e-12)
            self.near(at(rows, 0.03 * k + 0.01)["late"], mean, 1e-12)
        self.assertEqual(at(rows, 0.039)["late"], at(rows, 0)["y"])

    def test_adaptive_sampling(self):
        rows = behind(example("adaptive_sampling"))
        u = lambda t: 1 - math.exp(-5 * t) if t < 1 else 1 - math.exp(-5) * math.cos(8 * (t - 1))
        t, y = 0, 0
        while t <= 2:
            before, y = y, u(t)
            interval = min(0.4, max(0.02, 0.01 / (abs(y - before) + 0.02)))
            self.near(at(rows, t)["y"], y, 1e-9)
            self.near(at(rows, t)["interval"], interval, 1e-9)
            t += interval


class Chain:
    """Variables x0, x1, ...: x0 counts the ticks of a base clock, each other one converts an earlier one. Keeps times and values of
    each."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.stop = 2
        counter, resolution = draw.randint(1, 9), draw.choice([20, 30, 50, 70])
        step = Fraction(counter, resolution)
        self.rate, self.first, self.lines = [step], [Fraction(0)], []
        self.history = [[(k * step, k + 1) for k in range(int(self.stop / step) + 1)]]
        clock = draw.choice([f"Clock({counter}, {resolution})", f"subSample(Clock(1, {resolution}), {counter})",
                             f"superSample(Clock({counter}), {resolution})"])
        self.lines.append(f"when {clock} then\n    x0 = previous(x0) + 1;\n  end when;")
        for number in range(1, draw.randint(2, 7)):
            self.convert(draw, number)

    def convert(self, draw, number):
        source = draw.randrange(number)
        rate, first = self.rate[source], self.first[source]
        kind = draw.choice(["sub", "super", "shift", "back"])
        if kind in ("sub", "super"):
            factor = draw.randint(1, 5)
            rate = rate * factor if kind == "sub" else rate / factor
            call = f"{kind}Sample(x{source}, {factor})"
        else:
            late, resolution = draw.randint(0, 7), draw.randint(1, 4)
            shift = Fraction(late, resolution) * rate
            if kind == "back" and shift > first:
                kind = "shift"
            first = first + shift if kind == "shift" else first - shift
            call = f"{kind}Sample(x{source}, {late}, {resolution})"
        values, t = [], first
        while t <= self.stop:
            known = [value for time, value in self.history[source] if time <= t]
            values.append((t, known[-1] if known else 100 * source))
            t += rate
        self.rate.append(rate)
        self.first.append(first)
        self.history.append(values)
        self.lines.append(f"x{number} = {call};\n  n{number} = previous(n{number}) + (if x{number} > -1 then 1 else 2);\n"
                          f"  y{number} = hold(x{number});")

    def text(self):
        names = ["Integer x0(start = 0);"]
        names += [f"Integer x{i}(start = {100 * i}), n{i}(start = 0), y{i};" for i in range(1, len(self.rate))]
        return "model M\n  " + "\n  ".join(names) + "\nequation\n  " + "\n  ".join(self.lines) + "\nend M;\n"

    def expected(self, number, time):
        """Value and number of ticks up to a time."""
        known = [value for at, value in self.history[number] if at <= time]
        return (known[-1] if known else 100 * number), len(known)


class Flat(unittest.TestCase):
    def test_reads_back(self):
        """The flat text of clocks and state machines is a model again, and the same one."""
        for name in sorted(os.listdir(EXAMPLES)):
            flat = command("flatten", os.path.join(EXAMPLES, name)).stdout
            again = command("flatten", write(flat, "flat.mo"))
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(flat, again.stdout, name)


class Generated(unittest.TestCase):
    def test_chains(self):
        for seed in range(COUNT):
            chain = Chain(seed)
            path = write(chain.text())
            rows = behind(simulate(path, "--stop-time", "2", "--intervals", "1"))
            self.compare(chain, rows, chain.text())
            if seed % 8 == 0:
                flat = write(command("flatten", path).stdout, "flat.mo")
                self.compare(chain, behind(simulate(flat, "--stop-time", "2", "--intervals", "1")), chain.text())

    def compare(self, chain, rows, text):
        times = sorted({t for history in chain.history for t, _ in history})
        self.assertEqual(len(times), len([row for row in rows if row["time"] < 2 or 2 in times]), text)
        for t, row in zip(times, rows):
            self.assertAlmostEqual(row["time"], float(t), 12, text)
            for i in range(1, len(chain.rate)):
                value, ticks = chain.expected(i, t)
                self.assertEqual((row[f"y{i}"], row[f"n{i}"]), (value, ticks), f"{text} at {t}, number {i}")

    def test_inferred_factors(self):
        """Omitted factors follow from the clocks on both sides."""
        for seed in range(COUNT // 4):
            draw = random.Random(seed)
            factor, late = draw.randint(1, 6), draw.randint(0, 3)
            text = (f"model M Integer a(start = 0), b, k(start = 0); Clock s = Clock({factor}, 20), f = Clock(1, 20); equation\n"
                    f"when s then a = previous(a) + 1; end when; when f then b = superSample(a); k = previous(k) + {late + 1}; end when;"
                    f" annotation(experiment(StopTime = 1)); end M;")
            rows = behind(simulate(write(text), "--intervals", "1"))
            for k in range(20):
                row = at(rows, k / 20)
                self.assertEqual((row["b"], row["k"]), (k // factor + 1, (k + 1) * (late + 1)))

    def test_event_clocks(self):
        """Every n-th tick of a clock of events; intervals between them."""
        for seed in range(COUNT // 4):
            draw = random.Random(seed)
            factor, late, omega = draw.randint(1, 4), draw.randint(0, 3), draw.uniform(5, 12)
            text = (f"model M Integer n(start = 0), m(start = 0), k; Real dt, t; equation\n"
                    f"when Clock(sin({omega!r}*time) > 0.5, 0.25) then n = previous(n) + 1; dt = interval(); end when;\n"
                    f"k = shiftSample(subSample(n, {factor}), {late}); m = previous(m) + (if k > -1 then 1 else 2);\n"
                    f"t = interval(k); annotation(experiment(StopTime = 8)); end M;")
            rows = behind(simulate(write(text), "--intervals", "1", "--tolerance", "1e-10"))
            ticks = [(math.asin(0.5) + 2 * math.pi * k) / omega for k in range(20)]
            ticks = [t for t in ticks if t < 8 - 1e-3]
            for k, t in enumerate(ticks):
                row = at(rows, t + 1e-5)
                self.assertEqual(row["n"], k + 1)
                self.assertAlmostEqual(row["dt"], t - ticks[k - 1] if k else 0.25, 6)
                count = (k - late * factor) // factor + 1 if k >= late * factor else 0
                self.assertEqual(row["m"], count, f"{text} at {t}")


class Language(unittest.TestCase):
    def test_implicit(self):
        """A nonlinear equation of a clock is solved at its ticks."""
        text = "model M Real x(start = 1), u = 2 + sin(3*time), y; equation x^3 + x = previous(x) + sample(u, Clock(1, 10)); y = hold(x); end M;"
        rows = behind(simulate(write(text), "--stop-time", "0.95", "--intervals", "1"))
        x = 1
        for k in range(10):
            right, t = x + 2 + math.sin(0.3 * k), 0.1 * k
            for _ in range(50):
                x -= (x**3 + x - right) / (3 * x * x + 1)
            self.assertAlmostEqual(at(rows, t)["y"], x, 9)


if __name__ == "__main__":
    unittest.main()
