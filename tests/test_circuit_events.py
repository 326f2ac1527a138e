"""Circuits and flows: small models, each with a feature that models of electrical, magnetic and thermal libraries share."""
import csv
import math
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()


def simulate(text, *options):
    """The run, and the trajectory as one dictionary per row."""
    path = os.path.join(WORK, "model.mo")
    with open(path, "w") as file:
        file.write(text)
    result = os.path.join(WORK, "model.csv")
    run = subprocess.run([DAEDAL, "simulate", path, "--output-file", result, *options], capture_output=True, text=True)
    if run.returncode:
        return run, []
    with open(result) as file:
        return run, [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


class Streams(unittest.TestCase):
    """A stream through a row of nodes without a volume, whose flow stops and reverses: the inflow on either side is known."""

    def model(self, nodes, rng):
        flows = [f"h{k}" for k in range(nodes + 2)]
        unknown = ", ".join(flows[1:-1])
        rows = []
        for k in range(nodes + 1):
            sign = rng.choice(("", "-"))
            ahead, behind = (flows[k], flows[k + 1]) if not sign else (flows[k + 1], flows[k])
            rows.append(f"  {sign}y{k} = semiLinear({sign}x, {ahead}, {behind});\n")
        joints = "".join(f"  y{k} + q{k} = y{k + 1};\n  q{k} = 0;\n" for k in range(nodes))
        rng.shuffle(rows)
        names = ", ".join(f"y{k}" for k in range(nodes + 1)) + "".join(f", q{k}" for k in range(nodes))
        return (f"model Streams\n  Real x, {unknown}, {names}, h0, h{nodes + 1}(start = 3, fixed = true);\n"
                f"equation\n  x = if time < 1 then 0 elseif time < 2 then time - 1 elseif time < 4 then 3 - time else -1;\n"
                f"  h0 = 1 + time;\n  der(h{nodes + 1}) = y{nodes} - h{nodes + 1};\n{joints}{''.join(rows)}"
                "  annotation(experiment(StopTime = 5));\nend Streams;\n")

    def test_family(self):
        rng = random.Random(7)
        for nodes in (1, 2, 5, 9):
            run, rows = simulate(self.model(nodes, rng), "--intervals", "50", "--no-event-rows")
            self.assertEqual(run.returncode, 0, run.stderr)
            for row in rows:
                if abs(row["time"] - 3) < 1e-9:
                    continue
                passed = row["h0"] if row["time"] < 3 else row[f"h{nodes + 1}"]
                for k in range(1, nodes + 1):
                    self.assertAlmostEqual(row[f"h{k}"], passed, delta=1e-9)


class Nodes(unittest.TestCase):
    """Streams meet at a node without a volume, and a source may add a flow. The node has the mixture of its inflows; if nothing flows, the mean of its neighbours."""

    def model(self, arms, rng, loss):
        rows = []
        for k in range(arms):
            sign = rng.choice(("", "-"))
            node, other = ("s", f"b{k}") if not sign else (f"b{k}", "s")
            rows.append(f"  {sign}y{k} = semiLinear({sign}x{k}, {node}, {other});\n")
        rng.shuffle(rows)
        shares = [rng.uniform(-1, 1) for _ in range(arms - 1)]
        flows = "".join(f"  x{k} = {share!r}*u;\n  b{k} = {rng.uniform(1, 9)!r} + time;\n" for k, share in enumerate(shares))
        names = ", ".join(f"x{k}, y{k}, b{k}" for k in range(arms))
        total = " + ".join(f"x{k}" for k in range(arms))
        return (f"model Node\n  parameter Real loss = {loss!r};\n  Real s, u, q, x(start = 1, fixed = true), {names};\nequation\n  q = loss*u^2;\n"
                f"  u = if time < 1 then 0 else sin(3*(time - 1));\n{flows}  {total} = 0;\n  b{arms - 1} = x;\n"
                f"  der(x) = y{arms - 1} - x;\n  {total.replace('x', 'y')} = q;\n{''.join(rows)}end Node;\n")

    def test_family(self):
        rng = random.Random(8)
        for arms, loss in ((2, 0), (2, 0), (2, 0.3), (3, 0), (3, 0.5), (4, 0), (5, 1.5), (8, 0)):
            text = self.model(arms, rng, loss)
            run, rows = simulate(text, "--stop-time", "4", "--intervals", "50", "--no-event-rows")
            self.assertEqual(run.returncode, 0, text + run.stderr)
            for row in rows:
                flowing = [(max(-row[f"x{k}"], 0) + 1e-9, row[f"b{k}"]) for k in range(arms)]
                added = loss * row["u"]**2
                mixed = (sum(w * b for w, b in flowing) + added) / sum(w for w, _ in flowing)
                self.assertAlmostEqual(row["s"], mixed, delta=1e-6, msg=text)


class SmallNumbers(unittest.TestCase):
    """Capacitances next to the coefficients 1 of Kirchhoff's laws: the unit of charge does not decide whether a Jacobian is
    singular."""

    def model(self, nodes, unit, rng):
        sizes = [rng.uniform(0.5, 2) for _ in range(2 * nodes)]
        names = ", ".join(f"i{k}, j{k}" for k in range(nodes)) + "".join(f", v{k}(start = {rng.uniform(0, 1)!r}, fixed = true)" for k in range(nodes))
        rows = []
        for k in range(nodes):
            after = f"v{k + 1}" if k + 1 < nodes else "0"
            slope = f"der(v{k + 1})" if k + 1 < nodes else "0"
            rows.append(f"  i{k} = c*{sizes[2 * k]!r}*(1 + v{k}^2)*(der(v{k}) - {slope});\n")
            rows.append(f"  j{k} = c*{sizes[2 * k + 1]!r}*der(v{k});\n")
            came = f"i{k - 1}" if k else "0"
            rows.append(f"  {came} = i{k} + j{k} + c*(v{k} - {after});\n")
        rng.shuffle(rows)
        return f"model Small\n  parameter Real c = {unit!r};\n  Real {names};\nequation\n{''.join(rows)}end Small;\n"

    def test_family(self):
        for nodes in (2, 4, 6):
            ends = []
            for unit in (1.0, 1e-9, 1e-15):
                run, rows = simulate(self.model(nodes, unit, random.Random(nodes)), "--stop-time", "1", "--tolerance", "1e-9")
                self.assertEqual(run.returncode, 0, run.stderr)
                ends.append([rows[-1][f"v{k}"] for k in range(nodes)])
            for end in ends[1:]:
                for a, b in zip(ends[0], end):
                    self.assertAlmostEqual(a, b, delta=1e-6)


class Angles(unittest.TestCase):
    """An angle by atan2 of a value that is zero except for round-off jumps back and forth by a turn; no solver gets stuck there."""

    def test_family(self):
        rng = random.Random(11)
        for solver in ("auto", "radau", "bdf"):
            for _ in range(4):
                ratio, speed = rng.uniform(2, 9), 10 ** rng.uniform(2, 5)
                text = (f"model Angle\n  Real x(start = 1, fixed = true), z(start = {ratio!r}, fixed = true), d, angle, turns;\nequation\n"
                        f"  der(x) = -{speed!r}*(x - cos(time));\n  der(z) = -{speed!r}*(z - {ratio!r}*cos(time));\n  d = z - {ratio!r}*x;\n"
                        "  angle = atan2(d, -1);\n  turns = angle/6.283185307179586;\nend Angle;\n")
                run, rows = simulate(text, "--stop-time", "3", "--solver", solver)
                self.assertEqual(run.returncode, 0, run.stderr + text)
                for row in rows:
                    self.assertAlmostEqual(abs(row["turns"]), 0.5, delta=1e-6)
                    self.assertAlmostEqual(row["angle"], math.atan2(row["d"], -1), delta=1e-12)


class FreeParameters(unittest.TestCase):
    """Parameters with fixed = false, found by initialization."""

    def test_start_values_give_the_unit(self):
        """The sum of a slow and a fast exponential with a given peak. With equal time constants the sum is zero, which is not a solution."""
        for unit in (1e-9, 1e-6, 1e-3, 1):
            text = (f"model Pulse\n  parameter Real a(fixed=false, start={300 * unit!r}), b(fixed=false, start={10 * unit!r});\n"
                    f"  parameter Real peak(fixed=false, start={30 * unit!r}), top(fixed=false, start=1);\n  Real x(start=1, fixed=true);\n"
                    "initial equation\n  exp(-peak/a)/a = exp(-peak/b)/b;\n  top = exp(-peak/a) - exp(-peak/b);\n"
                    f"  peak = {20 * unit!r};\n  0.5*top = exp(-{350 * unit!r}/a) - exp(-{350 * unit!r}/b);\n"
                    "equation\n  der(x) = -top*x;\nend Pulse;\n")
            run, rows = simulate(text, "--stop-time", "1", "--intervals", "1")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertLess(rows[-1]["x"], 0.45)


class Star(unittest.TestCase):
    """Saturating inductors in a star: at an event that depends only on time their currents do not jump, however large the method's errors are."""

    def test_time_events(self):
        for frequency, saturation in ((10, 1e-4), (100, 1e-6)):
            rows = "".join(f"  (0.001 + 3*{saturation}*i{k}^2)*der(i{k}) = u*sin({frequency}*time + {2.1 * k}) - 0.03*i{k} - v;\n" for k in (1, 2, 3))
            text = ("model Star\n  Real i1(start=0, fixed=true), i2(start=0, fixed=true), i3, v;\n"
                    "  Real u = if time < 0.5 then 400 elseif time < 0.71 then 800 else 200;\n"
                    f"equation\n  i1 + i2 + i3 = 0;\n{rows}end Star;\n")
            for solver in ("radau", "bdf", "ida"):
                run, rows_found = simulate(text, "--solver", solver, "--tolerance", "1e-3", "--stop-time", "1")
                self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
