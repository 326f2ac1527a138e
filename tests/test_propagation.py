"""The effect of a wrong start: `init --propagation` compared with steps of the methods on random linear equations of known index,
and the water tubes of Estévez Schwarz (2010), section 3."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from decimal import Decimal, getcontext

import numpy

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
METHODS = ("implicit Euler", "trapezoidal rule", "Radau IIA", "BDF")
getcontext().prec = 60
DIFFERENCES = [[Decimal(weight) / 6 for weight in row] for row in ([6, -6], [9, -12, 3], [11, -18, 9, -2])]


def report(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.mo"
        path.write_text(text)
        done = subprocess.run([DAEDAL, "init", path, "--propagation", "--quiet", "--json", "-"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def solve(matrix, right):
    """Solves by elimination with pivots, in 60 digits: with fewer, errors of order h^-4 would be lost in round-off."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        rows[k:] = sorted(rows[k:], key=lambda row: -abs(row[k]))
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    for k in reversed(range(len(rows))):
        rows[k][-1] = (rows[k][-1] - sum(rows[k][i] * rows[i][-1] for i in range(k + 1, len(rows)))) / rows[k][k]
    return numpy.array([row[-1] for row in rows])


def radau(e, a, h, start):
    """One step for E d' + A d = 0: the stages k_i obey E k_i + A (d + h sum a_ij k_j) = 0."""
    root = Decimal(6).sqrt()
    table = numpy.array([[(88 - 7 * root) / 360, (296 - 169 * root) / 1800, (-2 + 3 * root) / 225],
                         [(296 + 169 * root) / 1800, (88 + 7 * root) / 360, (-2 - 3 * root) / 225],
                         [(16 - root) / 36, (16 + root) / 36, Decimal(1) / 9]])
    stages = solve(numpy.kron(numpy.eye(3, dtype=int), e) + h * numpy.kron(table, a), -numpy.tile(a @ start, 3))
    return start + h * table[2] @ stages.reshape(3, -1)


def steps(method, e, a, h, start):
    """Errors after three steps."""
    errors = [start]
    for k in range(3):
        last = errors[-1]
        if method == "implicit Euler":
            last = solve(e / h + a, e @ last / h)
        elif method == "trapezoidal rule":
            last = solve(e / h + a / 2, (e / h - a / 2) @ last)
        elif method == "Radau IIA":
            last = radau(e, a, h, last)
        else:
            weights = DIFFERENCES[k]
            past = sum(weight * errors[-back] for back, weight in enumerate(weights[1:], 1))
            last = solve(weights[0] * e / h + a, -e @ past / h)
        errors.append(last)
    return errors[1:]


def exact(matrix):
    return numpy.array([[Decimal(int(value)) for value in row] for row in matrix])


def pencil(seed):
    """E, A and the projector onto the nilpotent part, of index 1 to 3; all in whole numbers."""
    draw = numpy.random.default_rng(seed)
    index, finite = 1 + seed % 3, 2 + seed % 2
    n = finite + index
    inner = numpy.zeros((n, n), dtype=int)
    inner[:finite, :finite] = numpy.eye(finite)
    for k in range(index - 1):
        inner[finite + k, finite + k + 1] = draw.integers(1, 3)
    outer = numpy.eye(n, dtype=int)
    outer[:finite, :finite] = draw.integers(-2, 3, (finite, finite))
    left, right = (numpy.eye(n, dtype=int) + numpy.triu(draw.integers(-1, 2, (n, n)), 1) for _ in range(2))
    left, right = left @ left.T, right.T @ right
    onto = numpy.diag([0] * finite + [1] * index)
    back = numpy.rint(numpy.linalg.inv(right)).astype(int)
    return exact(left @ inner @ right), exact(left @ outer @ right), exact(back @ onto @ right), index


def model(e, a):
    n = len(e)
    rows = []
    for i in range(n):
        terms = [f"({e[i, j]:.17g})*der(x{j})" for j in range(n) if e[i, j]] + [f"({a[i, j]:.17g})*x{j}" for j in range(n) if a[i, j]]
        rows.append(f"  {' + '.join(terms)} = 0;\n")
    return f"model M\n  Real {', '.join(f'x{j}' for j in range(n))};\nequation\n{''.join(rows)}end M;\n"


class Propagation(unittest.TestCase):
    def test_random(self):
        h, powers = Decimal(1) / 10**6, set()
        for seed in range(12):
            e, a, onto, index = pencil(seed)
            found = report(model(e, a))["propagation"]
            self.assertEqual((found["failure"], found["index"]), (None, index), seed)
            told = {entry["wrong"]: entry for entry in found["errors"]}
            for j in range(len(e)):
                for method in METHODS:
                    errors = steps(method, e, a, h, onto[:, j])
                    for k, error in enumerate(errors):
                        listed = {each["variable"]: each for each in told[f"x{j}"][method][k]} if f"x{j}" in told else {}
                        for i, value in enumerate(error):
                            each = listed.get(f"x{i}")
                            expected = each["factor"] * float(h) ** each["power"] if each else 0
                            if each:
                                powers.add(each["power"])
                            self.assertLess(abs(float(value) - expected), 1e-3 * abs(expected) + 1e-9, (seed, j, method, k, i, value, expected))
        self.assertEqual(powers, {0, -1, -2})

    def test_free_variables(self):
        """With more unknowns than equations the report says that equations were added, and names only the model's own variables."""
        for equations in ("x*y = cos(time);", "der(x) = y - x; x + y*z = 1.5;", "x + y + z = 1; der(x) = z;", "x*y + y*z + z*x = 1 + time;"):
            text = f"model M\n  Real {', '.join(name + '(start = 0.8)' for name in 'xyz' if name in equations)};\nequation\n  {equations}\nend M;\n"
            with self.subTest(equations=equations), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "m.mo"
                path.write_text(text)
                done = subprocess.run([DAEDAL, "init", path, "--propagation", "--method", "strangeness"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("equations as given and those for free variables, linearized", done.stdout)
                self.assertNotIn("$", done.stdout)

    def test_water(self):
        """The correction of the pressures in the closed form of the paper. An error in p_n affects nothing with implicit Euler, and
        stays in p_n with the trapezoidal rule."""
        tubes = [(1, 2), (2, 3), (2, 6), (3, 4), (3, 5), (4, 5), (5, 10), (6, 5), (7, 4), (7, 8), (8, 5), (8, 10), (9, 8), (11, 9), (11, 12),
                 (12, 7), (12, 8), (13, 11)]
        inflow = {1: 0.7, 13: 0.3, 10: 0.5}
        flows, rows = ", ".join(f"f{k}(start = 0)" for k in range(18)), []
        for k, (i, j) in enumerate(tubes):
            rows.append(f"  v*der(f{k}) = p{i} - p{j} - 0.1*f{k}*abs(f{k});\n")
        for node in range(1, 14):
            balance = " ".join(f"{'+' if node == i else '-'} f{k}" for k, (i, j) in enumerate(tubes) if node in (i, j))
            rows.append(f"  {f'3*der(p{node})' if node in (5, 8) else '0'} = {balance} + {inflow.get(node, 0)}*sin(time);\n")
        pressures = ", ".join(f"p{k}(start = 0{', fixed = true' if k in (5, 8) else ''})" for k in range(1, 14))
        found = report(f"model W\n  parameter Real v = 2;\n  Real {flows}, {pressures};\nequation\n{''.join(rows)}end W;\n")
        values = {each["name"]: each["value"] for each in found["values"]}
        paper = {1: (521, 4), 2: (246, 4), 3: (94, 6), 4: (36, 14), 6: (123, 2), 7: (14, 36), 9: (2, 123), 11: (4, 246), 12: (6, 94), 13: (4, 521)}
        for node, (by_1, by_13) in paper.items():
            self.assertAlmostEqual(values[f"p{node}"], -2 / 275 * (by_1 * 0.7 + by_13 * 0.3), 9)
        self.assertAlmostEqual(values["p10"], -2 / 2 * 0.5, 9)
        told = {entry["wrong"]: entry for entry in found["propagation"]["errors"]}
        self.assertEqual(found["propagation"]["index"], 2)
        for node in (*paper, 10):
            self.assertEqual(told[f"p{node}"]["implicit Euler"], [[], [], []])
            for step in told[f"p{node}"]["trapezoidal rule"]:
                self.assertEqual([(each["variable"], each["power"]) for each in step], [(f"p{node}", 0)])

    def test_pressures(self):
        """The pressures of the test set's system at its end. The values of PSIDE are the paper's values minus its printed correction."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "w.json"
            subprocess.run([DAEDAL, "simulate", SOURCE / "examples/water.mo", "--tolerance", "1e-10", "--output-file", f"{folder}/w.csv", "--quiet",
                            "--json", out], check=True, capture_output=True)
            final = json.loads(out.read_text())["final"]
        nodes = (1, 2, 3, 4, 6, 7, 9, 10, 11, 12, 13)
        consistent = (1.11127172445388, 1.11127016244451, 1.11126938591833, 1.11126940383237, 1.11126937696131, 1.11127023410067, 1.11127450541665,
                      1.11125515888109, 1.11127896524092, 1.11127125287727, 1.11129851077039)
        correction = (0.06457236291058, 0.03105146480413, 0.01305629910703, 0.00811743250241, 0.01552573239479, 0.01129599829834,
                      0.00859008476985, 0.0000000001433, 0.01718016952515, 0.02577056230529, 0.01717986154569)
        for node, value, less in zip(nodes, consistent, correction):
            self.assertLess(abs(final[f"p{node}"] - (1e5 * value - less)), 2e-4, node)


if __name__ == "__main__":
    unittest.main()
