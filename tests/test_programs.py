"""Exported programs compared with `simulate`: generated models with discrete values, whens, resets, sliding and undefined values. A
program must give the same trajectory, or end as the run does.

DAEDAL_PROGRAM_MODELS sets the number of models, 12 by default; DAEDAL_PROGRAM_FIRST is the first seed."""
import csv
import glob
import math
import os
import random
import shutil
import subprocess
import tempfile
import unittest
import zlib

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_PROGRAM_MODELS", "12"))
FIRST = int(os.environ.get("DAEDAL_PROGRAM_FIRST", "0"))
TOLERANCE = 1e-8


def number(draw, low, high):
    return repr(round(draw.uniform(low, high), 3))


def condition(draw):
    return draw.choice([
        f"sample({number(draw, 0, 0.2)}, {number(draw, 0.1, 0.4)})",
        f"time > {number(draw, 0.1, 0.9)}",
        f"x > {number(draw, -0.8, 0.8)}",
        f"y < {number(draw, -0.8, 0.8)}",
        f"a > {number(draw, -0.5, 1.5)}",
    ])


def value(draw, target):
    """The value that a when assigns: an expression of time and columns, of the value before, of columns that depend on it; sometimes it is undefined."""
    return draw.choice([
        f"{number(draw, -1, 1)}*x + {number(draw, -1, 1)}",
        f"pre({target}) + {number(draw, -1, 1)}",
        f"{number(draw, -0.5, 0.5)}*a + time",
        f"{number(draw, -3, -1.5)}*a + {number(draw, -1, 1)}",
        f"log(y + {number(draw, 0.2, 1.2)})",
        f"sqrt(x + {number(draw, 0.5, 1.5)})",
    ])


def whens(draw):
    lines = [f"  when {condition(draw)} then\n    k = {value(draw, 'k')};\n  end when;"]
    if draw.random() < 0.5:
        lines.append(f"  when {condition(draw)} then\n    n = pre(n) + 1;\n  end when;")
    else:
        lines.append("  when time > 2 then\n    n = 1;\n  end when;")
    if draw.random() < 0.5:
        lines.append(f"  when {condition(draw)} then\n    reinit(z, {number(draw, -1, 1)} + {number(draw, -0.5, 0.5)}*pre(z));\n  end when;")
    return "\n".join(lines)


def model(draw):
    """Oscillating states, an algebraic unknown that a discrete value enters, and one more state that slides, saturates or counts."""
    rate = draw.choice(["k - z", "(if x > y then 1 else -1) - z", "(if abs(x - 0.2) < 0.004 then 50 else 0)", "-2*sign(z - 0.3*x) + 0.5*y", "noEvent(max(x, 0)) - z", "a*n/5 - z"])
    algebraic = draw.choice([
        f"a + k = {number(draw, -1, 1)} + x",
        f"a + 0.2*sin(a) = y + {number(draw, -0.5, 0.5)}*k",
        f"a = if x > {number(draw, -0.5, 0.5)} then y else k",
    ])
    return (f"model M\n  Real x(start = 1, fixed = true), y(start = {number(draw, -0.5, 0.5)}, fixed = true), z(start = 0.1, fixed = true), a;\n"
            f"  discrete Real k(start = {number(draw, -1, 1)}, fixed = true);\n  discrete Real n(start = 0, fixed = true);\n"
            f"equation\n  der(x) = {number(draw, 3, 9)}*y;\n  der(y) = -{number(draw, 3, 9)}*x;\n  der(z) = {rate};\n  {algebraic};\n{whens(draw)}\n"
            "  annotation(experiment(StopTime = 1));\nend M;\n")


FEATURES = {
    "nothing": "a = x;",
    "kink": "a = max(x, 0.2*y);",
    "condition without an event": "a = noEvent(if x > 0.3 then 0.3 else x);",
    "condition": "a = if x > 0.3 then 1 else x;",
    "when": "when x < 0 then a = y; end when;",
    "sample": "when sample(0.1, 0.2) then a = x; end when;",
    "time": "a = if time > 0.35 then x else y;",
    "delay": "a = delay(x, 0.15);",
    "assertion": 'a = x; assert(x > -9, "never");',
    "parameter from an initial equation": "a = p*x;",
    "function": "a = exp(sin(x));",
}


def model_with(feature):
    """A model that needs only this feature of the exported code."""
    declared = "  parameter Real p(fixed = false);\ninitial equation\n  p = 2 + x;\n" if "p*x" in FEATURES[feature] else ""
    kind = "discrete Real a(start = 0, fixed = true)" if "when" in FEATURES[feature] else "Real a"
    return (f"model M\n  Real x(start = 1, fixed = true), y(start = 0.1, fixed = true);\n  {kind};\n{declared}equation\n"
            f"  der(x) = 5*y + 0.1*a;\n  der(y) = -5*x;\n  {FEATURES[feature]}\n  annotation(experiment(StopTime = 1));\nend M;\n")


def columns_of(text):
    rows = list(csv.reader(text.splitlines()))
    return rows[0], [[float(number) for number in row] for row in rows[1:]]


def last_rows(rows):
    """The last row of each time, by the time."""
    return {round(row[0], 9): row for row in rows}


def largest_difference(simulated, exported):
    (names, rows), (other_names, other_rows) = simulated, exported
    places = [(k, other_names.index(name)) for k, name in enumerate(names) if name in other_names and not name.startswith("der(")]
    sizes = [max(1.0, max(abs(row[k]) for row in rows)) for k in range(len(names))]
    others = last_rows(other_rows)
    times = [(row, others[time]) for time, row in last_rows(rows).items() if time in others]
    return len(times), max(abs(row[k] - other[j]) / sizes[k] for row, other in times for k, j in places)


@unittest.skipIf(os.environ.get("BUILD_KIND") == "asan" or not shutil.which("cc"), "a compiler is needed, and time")
class Programs(unittest.TestCase):
    def build(self, path, *options, main=()):
        """The program of a model, or the program `main` around it; the files that all programs share are compiled once."""
        folder = os.path.join(WORK, "program")
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([DAEDAL, "export", path, "--c", folder, "--standalone", "-q", *options], check=True, capture_output=True)
        shared = [file for file in sorted(glob.glob(os.path.join(folder, "*.c"))) if not os.path.basename(file).startswith("model")]
        archive = os.path.join(WORK, f"runtime{zlib.crc32(repr(list(map(os.path.basename, shared))).encode())}.a")
        if not os.path.exists(archive):
            subprocess.run(["cc", "-O1", "-ffp-contract=off", "-c", *shared], check=True, cwd=folder)
            subprocess.run(["ar", "rc", archive] + sorted(glob.glob(os.path.join(folder, "*.o"))), check=True)
        subprocess.run(["cc", "-O0", "-ffp-contract=off", "-I.", "-o", "program", *main, *sorted(glob.glob(os.path.join(folder, "model*.c"))), archive, "-lm"],
                       check=True, cwd=folder)
        return os.path.join(folder, "program")

    def compare(self, text, solver):
        """How a run and the exported program end with this solver, and how far apart their values are."""
        path, result = os.path.join(WORK, "m.mo"), os.path.join(WORK, "m.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        tolerance = ["--tolerance", repr(TOLERANCE), "--intervals", "100"]
        run = subprocess.run([DAEDAL, "simulate", path, "-q", "--output-file", result, *tolerance], capture_output=True, text=True)
        if run.returncode not in (0, 6):
            return run.returncode, None, 0
        program = subprocess.run([self.build(path, "--solver", solver, *tolerance)], capture_output=True, text=True)
        if run.returncode or program.returncode:
            return run.returncode, program.returncode, 0
        with open(result, encoding="utf-8") as file:
            count, difference = largest_difference(columns_of(file.read()), columns_of(program.stdout))
        self.assertGreaterEqual(count, 100)
        return 0, 0, difference

    def test_random(self):
        tally = {"same": 0, "both end": 0, "refused": 0, "program ends": 0}
        for seed in (*range(FIRST, FIRST + COUNT), 20):  # 20: events of a jumping value accumulate
            with self.subTest(seed=seed):
                text = model(random.Random(seed))
                run, program, difference = self.compare(text, ("radau", "erk")[seed % 2])
                self.assertFalse(run == 6 and program == 0, f"the run ends, its program does not:\n{text}")
                self.assertTrue(math.isfinite(difference) and difference < 1e-5, f"{difference}\n{text}")
                tally["refused" if program is None else "both end" if run else "program ends" if program else "same"] += 1
        print(tally)
        self.assertGreaterEqual(tally["same"], COUNT // 2, tally)
        self.assertLessEqual(tally["program ends"], COUNT // 10, tally)

    def test_each_feature_alone(self):
        for feature in FEATURES:
            with self.subTest(feature=feature):
                run, program, difference = self.compare(model_with(feature), "radau")
                self.assertEqual((run, program), (0, 0))
                self.assertLess(difference, 1e-6)

    def test_refused_memory(self):
        """A call that does not get its memory fails; afterwards the run can begin again."""
        path, main = os.path.join(WORK, "m.mo"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "export_memory.c")
        for turn, text in enumerate([*map(model_with, ("nothing", "kink", "when", "delay")), model(random.Random(0))]):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            with self.subTest(turn=turn):
                run = subprocess.run([self.build(path, main=[main])], capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_short_failures(self):
        """An assertion that fails for a time that is zero up to errors gives a warning, as in `simulate`; at the end of the run it is an error."""
        path, times = os.path.join(WORK, "m.mo"), random.Random(5)
        for condition, ends in (("abs(x - {t}) > 1e-11", False), ("abs(x - {t}) > 1e-9", True), ("x < {t}", True), ("time < 1", True)):
            t = number(times, 0.2, 0.8)
            condition = condition.format(t=t)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"model M Real x(start = 0, fixed = true); Boolean late = x > {t}; equation der(x) = 1; assert({condition}, \"it fails\"); end M;")
            with self.subTest(condition=condition):
                run = subprocess.run([self.build(path)], capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr.count("it fails"), "too short" in run.stderr), (int(ends), 1, not ends), run.stderr)


if __name__ == "__main__":
    unittest.main()
