"""delay(): closed forms and the method of steps, with every solver and method that carries it.

DAEDAL_DELAY_MODELS widens the property test: so many models are drawn, 60 without it.
"""
import csv
import json
import math
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_DELAY_MODELS", "60"))
SOLVERS = ("auto", "erk", "radau", "bdf", "ida", "cvode")
METHODS = ("dummy", "minimal", "projection", "underlying", "strangeness", "none")


class Run:
    """One run: exit status, words, report, rows by name."""

    def __init__(self, text, stop=1.0, *options):
        model, out = os.path.join(WORK, "m.mo"), os.path.join(WORK, "m.csv")
        with open(model, "w") as file:
            file.write(text)
        if os.path.exists(out):
            os.remove(out)
        process = subprocess.run([DAEDAL, "simulate", model, "--stop-time", repr(stop), "--output-file", out, "--json", "-",
                                  *options], capture_output=True, text=True, timeout=60)
        self.code, self.words, self.rows = process.returncode, process.stderr, []
        self.json = json.loads(process.stdout) if process.stdout else {}
        if self.code == 0:
            with open(out) as file:
                self.rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def by_steps(t):
    """x' = -x(t - 1), x = 1 before 0."""
    return sum((-1)**k * (t - (k - 1))**k / math.factorial(k) for k in range(int(t) + 2))


class Closed(unittest.TestCase):
    def agree(self, run, name, value, tolerance, at=None):
        self.assertEqual(run.code, 0, run.words)
        for row in run.rows:
            if at and not at(row["time"]):
                continue
            self.assertAlmostEqual(row[name], value(row["time"]), delta=tolerance, msg=f"{name} at {row['time']}")

    def test_method_of_steps(self):
        text = "model M Real x(start=1, fixed=true); equation der(x) = -delay(x, 1); end M;"
        for solver in SOLVERS:
            run = Run(text, 5.0, "--solver", solver, "--intervals", "50")
            self.agree(run, "x", by_steps, 5e-5 if solver in ("bdf", "ida", "cvode") else 3e-6)
        for method in METHODS:
            self.agree(Run(text, 5.0, "--method", method, "--intervals", "50"), "x", by_steps, 1e-5)
        self.agree(Run(text, 5.0, "--compile", "--intervals", "50"), "x", by_steps, 1e-6)

    def test_short_delays(self):
        """Steps are not longer than a delay: x' = -x(t - T) nears exp(s t) with s = -exp(-s T)."""
        rate = -1.0
        for _ in range(100):
            rate = -math.exp(-rate * 1e-3)
        text = "model M Real x(start=1, fixed=true); equation der(x) = -delay(x, 1e-3); end M;"
        for solver in ("auto", "radau", "bdf"):
            run = Run(text, 1.0, "--solver", solver, "--intervals", "10")
            self.agree(run, "x", lambda t: math.exp(rate * t), 2e-3)

    def test_square_wave(self):
        """Both sides of a jump, delayed exactly; whens and Booleans see it."""
        text = """model M
 Real u, v, w(start=0, fixed=true); Integer n(start=0, fixed=true); Boolean b;
equation
 u = if mod(time, 1) < 0.5 then 1 else -1; v = delay(u, 0.3); der(w) = v; b = delay(u, 0.7) > 0;
 when delay(u, 0.25) < 0 then n = pre(n) + 1; end when;
end M;"""

        def wave(t):
            return 1 if t < 0 or t % 1 < 0.5 else -1

        def area(t):
            if t < 0.3:
                return t
            return 0.3 + (0.5 - abs((t - 0.3) % 1 - 0.5))

        def off(t, *edges):
            return all(min((t - e) % 0.5, 0.5 - (t - e) % 0.5) > 1e-9 for e in edges)

        for solver in SOLVERS:
            run = Run(text, 3.2, "--solver", solver, "--intervals", "64")
            self.agree(run, "v", lambda t: wave(t - 0.3), 0, lambda t: off(t, 0.3))
            self.agree(run, "b", lambda t: wave(t - 0.7) > 0, 0, lambda t: off(t, 0.7))
            self.agree(run, "w", area, 1e-6)
            self.agree(run, "n", lambda t: math.floor(t - 0.75) + 1, 0, lambda t: off(t, 0.75))

    def test_discrete(self):
        """Integers and Booleans are delayed as they are, in discrete equations and through a Real that holds them."""
        text = """model M
 Integer n(start=0, fixed=true), m, k, i(start=1, fixed=true); Real r, v, s, x(start=0, fixed=true); Boolean b;
equation
 when sample(0.1, 0.1) then n = pre(n) + 1; end when; r = n; m = integer(delay(r, 0.25));
 k = integer(delay(delay(r, 0.1), 0.15)); when n >= 5 then i = 2; end when; v = delay(time, 0.1*pre(i), 1);
 der(x) = 1; s = x; b = delay(delay(s, 0.1), 0.2) > 0.205;
end M;"""
        run = Run(text, 1.0, "--intervals", "40")
        for name in ("m", "k"):
            self.agree(run, name, lambda t: max(0, math.floor((t - 0.25) * 10 + 1e-9)), 0,
                       lambda t: abs((t - 0.25) * 10 - round((t - 0.25) * 10)) > 1e-6)
        self.agree(run, "b", lambda t: t > 0.505, 0, lambda t: abs(t - 0.505) > 1e-6)
        self.agree(run, "v", lambda t: max(0, t - (0.1 if t < 0.5 else 0.2)), 1e-9, lambda t: abs(t - 0.5) > 1e-9)
        self.assertEqual(run.json["state_events"], 1)

    def test_constraint(self):
        """A constraint with a delay is differentiated: the derivative is 0 before the start is passed."""
        text = """model M Real x, y(start=1, fixed=true), f; equation
 der(x) = f; der(y) = -y; x = delay(y, 0.5) + sin(time); end M;"""
        for method in ("dummy", "minimal", "underlying"):
            run = Run(text, 2.0, "--method", method, "--tolerance", "1e-8")
            self.agree(run, "x", lambda t: (1 if t < 0.5 else math.exp(0.5 - t)) + math.sin(t), 1e-6)
            self.agree(run, "f", lambda t: (0 if t < 0.5 else -math.exp(0.5 - t)) + math.cos(t), 1e-4,
                       lambda t: abs(t - 0.5) > 1e-9)

    def test_initial_coupling(self):
        """Before the start the value is that at the start, also where it is only found with it."""
        text = "model M Real x(start=0), y; equation der(x) = 1 - y; y = delay(x, 1); initial equation y = 3; end M;"
        run = Run(text, 0.5)
        self.agree(run, "x", lambda t: 3 - 2 * t, 1e-9)

    def test_transport_line(self):
        """A lossless line with matched ends delays; with an open end it doubles and comes back."""
        text = """model M parameter Real Z = 50, T = 0.2; Real v1, i1, v2, i2, u; equation
 u = if time < 0.1 then 0 else 1; v1 = u - Z*i1;
 v1 - Z*i1 = delay(v2 + Z*i2, T); v2 - Z*i2 = delay(v1 + Z*i1, T); i2 = 0; end M;"""
        run = Run(text, 1.0, "--intervals", "40")
        self.agree(run, "v2", lambda t: 0 if t < 0.3 else 1, 1e-9, lambda t: abs(t - 0.3) > 1e-9)
        self.agree(run, "v1", lambda t: 0 if t < 0.1 else 0.5 if t < 0.5 else 1, 1e-9,
                   lambda t: abs(t - 0.1) > 1e-9 and abs(t - 0.5) > 1e-9)

    def test_variable_times(self):
        """Times that depend on the solution, on what they delay, and that vanish."""
        text = """model M Real x(start=0, fixed=true), T, y; equation
 der(x) = cos(time); T = 0.5 + 0.3*sin(y); y = delay(x, T, 2); end M;"""
        for solver in SOLVERS:
            run = Run(text, 5.0, "--solver", solver, "--intervals", "50")
            self.assertEqual(run.code, 0, run.words)
            for row in run.rows:
                value = math.sin(max(0, row["time"] - row["T"]))
                self.assertAlmostEqual(row["y"], value, delta=1e-4)
                self.assertAlmostEqual(row["T"], 0.5 + 0.3 * math.sin(row["y"]), delta=1e-9)
        text = "model M Real x(start=0, fixed=true), y; equation der(x) = cos(time); y = delay(x, 0.5*(1 - cos(time)), 1); end M;"
        run = Run(text, 10.0, "--intervals", "100")
        self.agree(run, "y", lambda t: math.sin(max(0, t - 0.5 * (1 - math.cos(t)))), 1e-5)

    def test_reports(self):
        """Reduced models are written with their delays, exported ones have a value for each."""
        model = os.path.join(WORK, "r.mo")
        with open(model, "w") as file:
            file.write("model M Real x, y(start=1, fixed=true), f; equation der(x) = f; der(y) = -y; x = delay(y, 0.5); end M;")
        for method in ("dummy", "minimal", "projection"):
            text = subprocess.run([DAEDAL, "reduce", model, "--method", method], capture_output=True, text=True).stdout
            self.assertIn("delay('y', 0.5)", text)
            self.assertIn("delay(der('y'), 0.5)", text)
        folder = os.path.join(WORK, "export")
        subprocess.run([DAEDAL, "export", model, "--c", folder], check=True, capture_output=True)
        with open(os.path.join(folder, "model.c")) as file:
            self.assertIn('"delay(y, 0.5)", "delay(y, 0.5), derivative 1"', " ".join(file.read().split()))

    def test_refusals(self):
        def model(text, value=1):
            return f"model M Real x(start=1, fixed=true), y; parameter Real p={value}; equation der(x) = -x; y = {text}; end M;"
        for text, value, code, words in (
                ("delay(x, time)", 1, 3, "needs delayMax"), ("delay(x, -1)", 1, 3, "below zero"),
                ("delay(x, p)", -1, 5, "delay time of delay(x, p) is -1, below zero"),
                ("delay(x, 1 - 2*time, 2)", 1, 6, "below zero"), ("delay(x, 3*time, 2)", 1, 6, "above its maximum")):
            run = Run(model(text, value))
            self.assertEqual(run.code, code, run.words)
            self.assertIn(words, run.words)
        self.assertIn("method overdetermined cannot carry delay(x, 0.5)", Run(model("delay(x, 0.5)"), 1.0, "--method",
                                                                             "overdetermined").words)
        self.assertEqual(Run(model("delay(x, 0)")).code, 0)


def reference(rates, delays, gains, jump, stop, steps):
    """x' = a x + sum of g_i x(t - T_i) + (t > jump), x = 1 before 0: Runge and Kutta's method on a grid that has all breaks."""
    h, a, x = stop / steps, rates, [1.0]
    lags = [round(delay / h) for delay in delays]

    def old(k, half):
        """x at (k + half/2) h."""
        if k < 0:
            return 1.0
        if not half:
            return x[k]
        if k + 1 >= len(x):
            return x[k]
        if k == 0 or k + 2 >= len(x):
            return (x[k] + x[k + 1]) / 2
        return (9 * (x[k] + x[k + 1]) - x[k - 1] - x[k + 2]) / 16

    for n in range(steps):
        push = 1.0 if (n + 0.5) * h > jump else 0.0
        force = [sum(g * old(n - lag + int(half == 2), half == 1) for g, lag in zip(gains, lags)) + push for half in range(3)]
        k1 = a * x[n] + force[0]
        k2 = a * (x[n] + h / 2 * k1) + force[1]
        k3 = a * (x[n] + h / 2 * k2) + force[1]
        k4 = a * (x[n] + h * k3) + force[2]
        x.append(x[n] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return x


class Drawn(unittest.TestCase):
    def test_random_delays(self):
        """Linear equations with up to three delays and a jump, against the method of steps on a fine grid."""
        for seed in range(COUNT):
            draw = random.Random(seed)
            grid, stop = 4000, 4.0
            delays = [draw.randint(20, 2000) * stop / grid for _ in range(draw.randint(1, 3))]
            gains = [draw.uniform(-1.5, 1.0) for _ in delays]
            rate, jump = draw.uniform(-2, 0.3), draw.randint(1, grid) * stop / grid
            terms = " + ".join(f"({g!r})*delay(x, {T!r})" for g, T in zip(gains, delays))
            text = (f"model M Real x(start=1, fixed=true); equation der(x) = ({rate!r})*x + {terms} + "
                    f"(if time > {jump!r} then 1 else 0); end M;")
            solver = SOLVERS[seed % len(SOLVERS)]
            run = Run(text, stop, "--solver", solver, "--tolerance", "1e-7", "--intervals", "8")
            self.assertEqual(run.code, 0, f"seed {seed}: {run.words}")
            exact = reference(rate, delays, gains, jump, stop, grid)
            size = max(map(abs, exact))
            for row in run.rows:
                place = row["time"] / stop * grid
                if abs(place - round(place)) > 1e-6:
                    continue
                self.assertAlmostEqual(row["x"], exact[round(place)], delta=2e-5 * size,
                                       msg=f"seed {seed}, {solver}, at {row['time']}: {text}")


if __name__ == "__main__":
    unittest.main()
