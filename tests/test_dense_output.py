"""Between the ends of steps a result is as accurate as at the ends. Models: oscillators with steps at the stability bound of an explicit method, and stiff circuits whose diodes begin and
stop conducting. Seeded; DAEDAL_DENSE_MODELS sets their number."""
import csv
import io
import json
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_DENSE_MODELS", "10"))


def run(model, *options):
    """Times and values of x."""
    path = os.path.join(WORK, "model.mo")
    with open(path, "w", encoding="utf-8") as file:
        file.write(model)
    command = [DAEDAL, "simulate", path, "--output-file", "-", "--intervals", "2000", "--no-event-rows", "-q", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return [float(row[0]) for row in rows[1:]], [float(row[rows[0].index("x")]) for row in rows[1:]]


def drive(rng):
    """Two inertias with a stiff, damped spring between them, accelerated in stretches."""
    spring, damping = rng.uniform(3e3, 4e4), rng.uniform(40, 160)
    return f"""model drive
  parameter Real c = {spring!r}, d = {damping!r};
  Real x(start = 0, fixed = true), w(start = 0, fixed = true), turn(start = 0, fixed = true);
equation
  der(turn) = w - x;
  der(x) = 20*sin(6*time) + (if time < 0.5 or time > 2.5 then 0 else 10) + c*turn + d*(w - x) - 2*x;
  2*der(w) = -c*turn - d*(w - x);
  annotation(experiment(StopTime = 4));
end drive;
"""


def clipper(rng):
    """A condenser that steep diodes keep between limits."""
    frequency, limit, thermal, rate = rng.uniform(3, 12), rng.uniform(3, 8), rng.uniform(0.02, 0.1), rng.uniform(20, 500)
    return f"""model clipper
  parameter Real f = {frequency!r}, limit = {limit!r}, vt = {thermal!r}, k = {rate!r};
  Real x(start = 0, fixed = true);
equation
  der(x) = k*(10*sin(2*3.14159265358979*f*time) - x) - k*(exp((x - limit)/vt) - exp(-(x + limit)/vt));
  annotation(experiment(StopTime = 1));
end clipper;
"""


def evaluations(model, solver):
    """The evaluations of a run in which only conditions read values inside steps."""
    path, report = os.path.join(WORK, "model.mo"), os.path.join(WORK, "report.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(model)
    command = [DAEDAL, "simulate", path, "--output-file", os.path.join(WORK, "out.csv"), "--intervals", "1", "--solver", solver, "-q"]
    subprocess.run([*command, "--json", report], capture_output=True, check=True)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["residual_evals"]


class DenseOutput(unittest.TestCase):
    def check(self, draw, solvers, factor):
        """An output may be off by `factor` times the tolerance, relative to the size of the signal."""
        rng = random.Random(14)
        for _ in range(COUNT):
            model = draw(rng)
            _, exact = run(model, "--tolerance", "1e-10", "--solver", "bdf")
            for solver in solvers:
                times, values = run(model, "--solver", solver)
                worst, at = max((abs(a - b), t) for t, a, b in zip(times, values, exact))
                self.assertLessEqual(worst, factor * 1e-6 * max(map(abs, exact)), f"{model} with {solver} at time {at}")

    def test_at_the_stability_bound(self):
        self.check(drive, ("erk", "radau", "auto"), 50)

    def test_far_conditions(self):
        """Conditions far from their edges do not shorten explicit steps, even if they are not sums of columns."""
        rng = random.Random(15)
        for _ in range(COUNT):
            smooth = drive(rng).replace("if time < 0.5 or time > 2.5 then 0 else 10", "10")
            model = smooth.replace("equation\n", "  Real far = turn^2 + x^2;\nequation\n")
            watched = model.replace("far = turn^2 + x^2", "far = if turn^2 + x^2 > 1e6 then 1 else 0")
            self.assertLessEqual(evaluations(watched, "erk"), 1.05 * evaluations(model, "erk"), watched)

    def test_stiff_limits(self):
        self.check(clipper, ("radau", "auto"), 150)


if __name__ == "__main__":
    unittest.main()
