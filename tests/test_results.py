"""`plot` and `diff`: results on any grid, with events, gaps and missing signals, compared with a second implementation; and the
examples at the end of each command's help, which run."""
import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])


def write(path, names, rows):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time", *names])
        table.writerows([[repr(value) for value in row] for row in rows])


def sides(rows, time, column):
    """The values before and after a time."""
    here = [row[column] for row in rows if row[0] == time]
    if here:
        return here[0], here[-1]
    after = next(k for k, row in enumerate(rows) if row[0] > time)
    a, b = rows[after - 1], rows[after]
    part = (time - a[0])/(b[0] - a[0])
    return 2*((1 - part)*a[column] + part*b[column],)


def expected(first, second, column):
    """The largest difference and the largest value, by definition."""
    start, stop = max(first[0][0], second[0][0]), min(first[-1][0], second[-1][0])
    times = sorted({row[0] for row in first + second if start <= row[0] <= stop})
    pairs = [pair for time in times for pair in zip(sides(first, time, column), sides(second, time, column))]
    return max(abs(a - b) for a, b in pairs), max(max(abs(a), abs(b)) for a, b in pairs)


def random_rows(seed, columns):
    """Rows with duplicate times, which are events."""
    chance = random.Random(seed)
    times = sorted(chance.choice([chance.uniform(0, 9), float(chance.randrange(9))]) for _ in range(chance.randrange(3, 30)))
    return [[time, *(chance.gauss(0, 10**chance.randrange(-2, 3)) for _ in range(columns))] for time in [0.0, *times, 9.0]]


class Results(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_daedal(self, status, *words):
        done = subprocess.run([DAEDAL, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def compare(self, status, *words):
        return json.loads(self.run_daedal(status, "diff", "a.csv", "b.csv", *words, "--json").stdout)

    def test_differences_are_those_of_the_definition(self):
        for seed in range(20):
            first, second = random_rows(2*seed, 3), random_rows(2*seed + 1, 3)
            write(self.folder / "a.csv", ["p", "q", "r"], first)
            write(self.folder / "b.csv", ["r", "p", "s"], [[row[0], row[3], row[1], row[2]] for row in second])
            report = self.compare(8)
            self.assertEqual((report["only_first"], report["only_second"]), (["q"], ["s"]))
            found = {signal["name"]: signal for signal in report["signals"]}
            self.assertEqual(set(found), {"p", "r"})
            for name, column in (("p", 1), ("r", 3)):
                largest, scale = expected(first, second, column)
                self.assertAlmostEqual(found[name]["difference"], largest, delta=1e-12*scale)
                self.assertAlmostEqual(found[name]["relative"], largest/scale, delta=1e-12)
                self.assertAlmostEqual(abs(found[name]["first"] - found[name]["second"]), largest, delta=1e-12*scale)
            relatives = [signal["relative"] for signal in report["signals"]]
            self.assertEqual(relatives, sorted(relatives, reverse=True))

    def test_what_counts_as_different(self):
        rows = [[0.0, 1.0, 2.0], [1.0, 1.0, -4.0]]
        write(self.folder / "a.csv", ["x", "y"], rows)
        write(self.folder / "b.csv", ["x", "y"], [[0.0, 1.0, 2.0], [0.5, 1.0, -1.0], [1.0, 1.0, -4.004]])
        self.compare(8)
        self.compare(8, "--tolerance", "0.0009")
        self.compare(0, "--tolerance", "0.0011")
        self.compare(8, "--absolute", "0.0039")
        self.compare(0, "--absolute", "0.0041")
        report = self.compare(0, "--variables", "x")
        self.assertEqual(report["signals"], [{"name": "x", "difference": 0, "relative": 0, "time": None, "first": None,
                                              "second": None, "differs": False}])
        write(self.folder / "b.csv", ["x", "y"], [*rows, [2.0, 1.0, 1.0]])
        self.assertFalse(self.compare(8)["same_times"])
        write(self.folder / "b.csv", ["x"], [row[:2] for row in rows])
        self.compare(8)
        self.compare(0, "--variables", "x")

    def test_not_a_number_equals_itself_alone(self):
        write(self.folder / "a.csv", ["x", "y"], [[0.0, math.nan, math.inf], [1.0, 1.0, math.inf]])
        write(self.folder / "b.csv", ["x", "y"], [[0.0, math.nan, math.inf], [1.0, 1.0, math.inf]])
        self.compare(0)
        write(self.folder / "b.csv", ["x", "y"], [[0.0, 0.0, math.inf], [1.0, 1.0, 1.0]])
        self.assertEqual(self.compare(8, "--tolerance", "1e9", "--absolute", "1e9")["different"], 2)

    def test_formats_and_names(self):
        model = SOURCE / "examples/circuits/diode_clipper.cir"
        for name in ("a.csv", "b.mat"):
            self.run_daedal(0, "simulate", model, "-q", "-o", name)
        said = self.run_daedal(0, "diff", "a.csv", "b.mat", "--variables", "v(out)").stdout
        self.assertRegex(said, r"a\.csv and b\.mat: 1 signal compared at \d+ times")
        shutil.copy(self.folder / "a.csv", self.folder / "c.csv")
        self.run_daedal(0, "plot", "a.csv", "b.mat", "c.csv", "--variables", "v(out)", "-o", "p.svg")
        picture = (self.folder / "p.svg").read_text()
        for name in ("a.csv", "b.mat", "c.csv"):
            self.assertIn(f"v(out) ({name})", picture)
        shown = self.run_daedal(0, "plot", "a.csv").stdout
        self.assertIn("v(out)", shown)
        self.assertNotIn("i(v", shown, "a netlist shows its nodes")

    def test_default_curves(self):
        """A CSV file does not say what a state is: shown is what has a derivative, and everything if nothing has one."""
        for names, shown, hidden in (("x, der(x), a, b", "x", "ab"), ("x, a, b", "xab", ""), ("a, der(z), b", "ab", "z")):
            names = names.split(", ")
            write(self.folder / "a.csv", names, [[0.0] + [1.0]*len(names), [1.0] + [2.0]*len(names)])
            self.run_daedal(0, "plot", "a.csv", "-o", "p.svg")
            picture = (self.folder / "p.svg").read_text()
            for name in shown + hidden:
                self.assertEqual(name in shown, f">{name}\n" in picture or f">{name}<" in picture, names)

    def test_refusals(self):
        write(self.folder / "a.csv", ["x"], [[0.0, 1.0], [1.0, 2.0]])
        write(self.folder / "b.csv", ["z"], [[0.0, 1.0], [1.0, 2.0]])
        write(self.folder / "c.csv", ["x"], [[2.0, 1.0], [3.0, 2.0]])
        for status, words, said in (
                (2, ["diff", "a.csv"], "two results"), (2, ["diff", "a.csv", "a.csv", "a.csv"], "two results"),
                (2, ["diff", "a.csv", "b.csv"], "have no signal in common"), (2, ["diff", "a.csv", "c.csv"], "have no time in common"),
                (7, ["diff", "a.csv", "none.csv"], "none.csv"), (7, ["plot", "none.csv"], "none.csv"),
                (2, ["plot"], "no result"), (2, ["plot", "a.csv", "-o", "p.csv"], ".svg"),
                (2, ["plot", "a.csv", "--variables", "y"], "no variable"), (2, ["plot", "a.csv", "--solver", "erk"], "does not belong"),
                (2, ["diff", "a.csv", "a.csv", "--json", "a.csv"], "overwrite the result"),
                (7, ["plot", "a.csv", "-o", "nowhere/p.svg"], "does not exist")):
            run = self.run_daedal(status, *words)
            self.assertIn(said, run.stderr)
            self.assertEqual(run.stdout, "")

    def test_examples_of_the_help_run(self):
        """All examples of the help, in the order of the commands, in a copy of the folder."""
        shutil.copytree(SOURCE / "examples", self.folder / "examples")
        commands = re.findall(r"^  ([\w-]+) ", subprocess.run([DAEDAL, "--help"], capture_output=True, text=True, check=True)
                              .stdout.split("\noptions")[0], re.M)
        environment = {**os.environ, "PATH": f"{pathlib.Path(DAEDAL).resolve().parent}:{os.environ['PATH']}"}
        for command in commands:
            own = subprocess.run([DAEDAL, command, "--help"], capture_output=True, text=True, check=True).stdout
            examples = re.findall(r"^  (.*)", own.split("\nexamples, in the folder of the examples:\n")[1], re.M)
            self.assertEqual(len(examples), 3, command)
            for example in examples:
                done = subprocess.run(["bash", "-c", example], capture_output=True, text=True, env=environment, cwd=self.folder / "examples")
                self.assertIn(done.returncode, [0, 8] if command == "diff" else [0], (example, done.stderr))


if __name__ == "__main__":
    unittest.main()
