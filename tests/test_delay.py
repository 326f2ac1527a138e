"""delay(): generated models against the method of steps, with every solver. Closed forms are in cases/delays.

DAEDAL_DELAY_MODELS sets the number of models, 60 by default."""
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


class Run:
    """One run: exit status, words, report, rows by name."""

    def __init__(self, text, stop=1.0, *options):
        model, out = os.path.join(WORK, "m.mo"), os.path.join(WORK, "m.csv")
        with open(model, "w") as file:
            file.write(text)
        if os.path.exists(out):
            os.remove(out)
        process = subprocess.run([DAEDAL, "simulate", model, "--stop-time", repr(stop), "--output-file", out, "--json", "-",
                                  *options], capture_output=True, text=True)
        self.code, self.words, self.rows = process.returncode, process.stderr, []
        self.json = json.loads(process.stdout) if process.stdout else {}
        if self.code == 0:
            with open(out) as file:
                self.rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


class Closed(unittest.TestCase):
    def test_reports(self):
        """Reduced models are written with their delays, and exported ones have a value for each."""
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

    def test_none(self):
        """A parameter that is 0 in the model makes no delay; an override makes one."""
        text = """model M
  parameter Real T = 0, S = T;
  Real x = sin(time), y = delay(x, T, T + 1), z = delay(x, S), v(start = 0, fixed = true);
equation
  der(v) = y - v;
end M;"""
        for options, late in (((), 0), (("--override", "T=0.25"), 0.25), (("--override", "T=0"), 0)):
            run = Run(text, 1.0, *options)
            self.assertEqual(run.code, 0, run.words)
            for row in run.rows:
                for name in ("y", "z"):
                    self.assertAlmostEqual(row[name], math.sin(max(row["time"] - late, 0)), 6)


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

    def test_reflected_waves(self):
        """A trapezoidal pulse that two ends reflect: equations without inertia do not change its kinks, in any number of round trips."""
        for seed in range(COUNT):
            draw = random.Random(1000 + seed)
            delay, tau, stop = draw.uniform(0.3, 1), draw.uniform(0.02, 0.5), 12.0
            near, far = draw.uniform(-0.9, 0.9), draw.uniform(-0.9, 0.9)
            times = sorted(draw.uniform(0.05, 2) for _ in range(4))
            rise, fall = 1 / (times[1] - times[0]), 1 / (times[3] - times[2])
            ramps = list(zip(times, (rise, -rise, -fall, fall)))
            pulse = " + ".join(f"({slope!r})*(if time > {t!r} then time - {t!r} else 0)" for t, slope in ramps)
            text = (f"model M Real x(start=0, fixed=true), a, b; equation a = {pulse} + ({near!r})*delay(b, {delay!r}); "
                    f"b = ({far!r})*delay(a, {delay!r}); der(x) = (delay(a, {delay!r}) - x)/{tau!r}; end M;")
            solver = SOLVERS[seed % len(SOLVERS)]
            run = Run(text, stop, "--solver", solver, "--tolerance", "1e-7", "--intervals", "40")
            self.assertEqual(run.code, 0, f"seed {seed}: {run.words}")
            for row in run.rows:
                exact = 0.0
                for k in range(int(stop / (2 * delay)) + 1):
                    for t, slope in ramps:
                        since = row["time"] - t - (2 * k + 1) * delay
                        if since > 0:
                            exact += (near * far) ** k * slope * (since + tau * math.expm1(-since / tau))
                self.assertAlmostEqual(row["x"], exact, delta=2e-5, msg=f"seed {seed}, {solver}, at {row['time']}: {text}")


if __name__ == "__main__":
    unittest.main()
