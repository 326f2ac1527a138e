"""Conditions whose branches meet cause no events if there are many: transistors in logic gates, with every solver; and generated models whose branches meet smoothly, with a kink, or not
at all. The generated models are compared with the same equations integrated in closed form."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from runs import SANITIZED, SOURCE, seeds, simulate

LOGIC = SOURCE / "bench/logic/logic.mo"
COUNT = 16  # number of conditions of a generated model


def outputs(name, solver, tolerance, stop):
    """Outputs of the gates at every nanosecond, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        table, report = pathlib.Path(folder, "o.csv"), pathlib.Path(folder, "o.json")
        subprocess.run([os.environ["DAEDAL"], "simulate", LOGIC, "--model", name, "--solver", solver, "--tolerance", repr(tolerance), "--stop-time",
                        str(stop), "--intervals", str(stop), "--no-event-rows", "--variables", r"(.*\.)?out\.v|.*\.p\.v", "-q", "--output-file", table,
                        "--json", report], check=True)
        with table.open(encoding="utf-8") as file:
            return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)], json.loads(report.read_text())


def farthest(rows, reference):
    return max(abs(a[k] - b[k]) for a, b in zip(rows, reference, strict=True) for k in a if k.endswith("out.v"))


class Logic(unittest.TestCase):
    def test_nand(self):
        reference, _ = outputs("NandGate", "radau", 1e-9, 80)
        for solver in ("auto", "radau", "bdf"):
            rows, report = outputs("NandGate", solver, 1e-6, 80)
            self.assertLess(farthest(rows, reference), 2e-3, solver)
            self.assertLess(report["state_events"], 5, solver)

    @unittest.skipIf(SANITIZED, "takes long")
    def test_adder(self):
        reference, _ = outputs("TwoBitAdder", "bdf", 1e-7, 40)
        for solver in ("auto", "radau", "bdf"):
            rows, report = outputs("TwoBitAdder", solver, 1e-5, 40)
            self.assertLess(farthest(rows, reference), 0.02, solver)
            self.assertLess(report["state_events"], 20, solver)

    @unittest.skipIf(SANITIZED, "takes long")
    def test_sums(self):
        rows, _ = outputs("TwoBitAdder", "radau", 1e-4, 320)
        for row in rows[4::10]:  # 1 ns before the inputs change: all gates are at rest
            high = {k: row[k] > 2.5 for k in row}
            total = high["a0.p.v"] + high["b0.p.v"] + 2 * high["a1.p.v"] + 2 * high["b1.p.v"] + high["c.p.v"]
            self.assertEqual(total, high["low.odd.out.v"] + 2 * high["high.odd.out.v"] + 4 * high["high.two.out.v"], row["time"])


def integral(kind, level, end):
    """The integral of the response to sin(t) from 0 to `end`, summed over the intervals between the times at which the sine passes the level."""
    inside = {"smooth": lambda x: x**2, "kink": lambda x: x, "jump": lambda x: 1 + x}[kind]
    first = math.asin(level)
    total, turn = 0.0, 0
    while 2 * math.pi * turn + first < end:
        a, b = 2 * math.pi * turn + first, min(2 * math.pi * turn + math.pi - first, end)
        parts = 200
        steps = [a + (b - a) * k / parts for k in range(parts + 1)]
        values = [inside(math.sin(t) - level) for t in steps]
        total += (b - a) / (3 * parts) * (values[0] + 4 * sum(values[1::2]) + 2 * sum(values[2:-1:2]) + values[-1])
        turn += 1
    return total


class Generated(unittest.TestCase):
    def test_responses(self):
        """Levels near the top of a sine are passed only for a short time; a jump there depends too much on errors of the sine."""
        branch = {"smooth": "(x - {0})^2", "kink": "x - {0}", "jump": "1 + x - {0}"}
        for seed in seeds(12):
            rng = random.Random(seed)
            kind, stop = ("smooth", "kink", "jump")[seed % 3], rng.uniform(3, 12)
            levels = [rng.uniform(0.05, 0.9) if k % 2 or kind == "jump" else 1 - 10**rng.uniform(-4, -1) for k in range(COUNT)]
            lines = [f"der(s{k}) = if x > {v!r} then {branch[kind].format(repr(v))} else 0;" for k, v in enumerate(levels)]
            text = ("model M\n Real x(start=0, fixed=true), y(start=1, fixed=true);\n Real " + ", ".join(
                f"s{k}(start=0, fixed=true)" for k in range(COUNT)) + ";\nequation\n der(x) = y; der(y) = -x;\n " + "\n ".join(lines) + "\nend M;\n")
            for solver in ("auto", "radau", "bdf"):
                run = simulate(text, solver=solver, stop_time=stop, tolerance=1e-7)
                self.assertEqual(run.status, 0, (seed, solver, run.words))
                for k, level in enumerate(levels):
                    wanted = integral(kind, level, stop)
                    self.assertAlmostEqual(run.end(f"s{k}"), wanted, delta=1e-4 if kind == "smooth" else 1e-3, msg=f"{seed} {kind} {solver} level {level}")
                events = run.report["state_events"]
                if kind == "smooth" and solver == "bdf": self.assertLess(events, COUNT, (seed, solver))  # the others take longer steps
                elif kind != "smooth": self.assertGreaterEqual(events, COUNT / 2, (seed, solver))


if __name__ == "__main__":
    unittest.main()
