"""Minimal extension of many weakly coupled blocks. For any k, k Hessenberg systems of order r have k (r - 1) new variables (Kunkel, Mehrmann 2003, section 3), and the trajectories are those
of dummy derivatives."""
import csv
import os
import random
import re
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]


def blocks(orders, coupling, shuffled, length=None):
    """A block of order r is x_1' = x_2, ..., x_(r-1)' = f - x_1 with x_1 given, and a filter s of it. Filters of other blocks enter
    the constraint: that of the block before (chain), of the block before or the last block (ring), of any earlier block (tree), or of no other block (apart). A chain
    starts again after `length` blocks."""
    equations, declared = [], []
    for i, order in enumerate(orders, 1):
        states = [f"x{i}_{k}" for k in range(1, order)] + [f"f{i}"]
        other = {"chain": i - 1, "ring": i - 1 or len(orders), "tree": random.Random(i).randint(0, i - 1), "apart": 0}[coupling]
        if length and i % length == 1:
            other = 0
        weak = f" + 0.01*s{other}" if other else ""
        declared += [*states, f"s{i}(start = {i % 3}, fixed = true)"]
        equations += [f"der({states[k]}) = {states[k + 1]}{' - ' + states[0] if k == order - 2 else ''};" for k in range(order - 1)]
        equations += [f"{states[0]} = sin({1 + i/len(orders)}*time){weak};", f"der(s{i}) = -s{i} + {states[0]};"]
    if shuffled:
        random.Random(len(orders)).shuffle(equations)
    return f"model H Real {', '.join(declared)}; equation " + "\n".join(equations) + " end H;"


def run(*arguments):
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


class Minimal(unittest.TestCase):
    def test_limit_is_named(self):
        text = run("reduce", self.write([4]*400, "chain", True), "--method", "minimal")
        self.assertRegex(text, r"ranks are found for up to 600 equations that share derivatives, and here there are \d+")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def count(self, *arguments):
        return int(re.search(r"(\d+) new variable", run("reduce", self.write(*arguments), "--method", "minimal")).group(1))

    def write(self, *arguments):
        path = os.path.join(self.folder, "h.mo")
        with open(path, "w") as file:
            file.write(blocks(*arguments))
        return path

    def test_count_of_the_paper(self):
        choose = random.Random(5)
        for count in (1, 7, 90, 400):
            for coupling in ("chain", "tree", "apart", "ring") if count < 400 else ("chain", "tree", "apart"):
                # in a chain of order 4 each coupling overlaps the next: all blocks are treated together, up to the limit
                for orders in ([2]*count, [3]*count, [4]*(count if count < 400 or coupling == "apart" else 90)):
                    self.assertEqual(self.count(orders, coupling, count != 90), sum(r - 1 for r in orders), (count, coupling, orders[0]))
            orders = [choose.choice((2, 3, 4)) for _ in range(count)]
            self.assertEqual(self.count(orders, "apart", True), sum(r - 1 for r in orders), orders[:9])

    def test_copies(self):
        """Blocks of different orders in a chain need more than that; copies of the chain need proportionally more."""
        orders = [2, 4, 4, 3, 2, 2, 3, 4]
        once = self.count(orders, "chain", False)
        for copies in (2, 30, 100):
            self.assertEqual(self.count(orders*copies, "chain", True, len(orders)), copies*once)

    def test_trajectories(self):
        for coupling in ("chain", "tree", "ring"):
            path = self.write([2, 3, 4, 3, 2]*3, coupling, True)
            ends = []
            for method in ("minimal", "dummy"):
                out = os.path.join(self.folder, method + ".csv")
                run("simulate", path, "--method", method, "--stop-time", "1", "--output-file", out, "-q", "--tolerance", "1e-9")
                with open(out) as file:
                    ends.append(list(csv.DictReader(file))[-1])
            for name in (name for name in ends[1] if re.fullmatch(r"(s|x)\d+(_\d)?", name)):
                self.assertAlmostEqual(float(ends[0][name]), float(ends[1][name]), delta=1e-4, msg=name)


if __name__ == "__main__":
    unittest.main()
