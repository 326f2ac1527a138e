"""linearize: the textbook matrices of a cart with an inverted pendulum in Cartesian coordinates, random linear models with random constraints, a chain of 100 links, files, pictures,
refusals. steady: steady states and their stability."""
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import time
import unittest

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
WORK = pathlib.Path(tempfile.mkdtemp())
SLOW = os.environ.get("BUILD_KIND") != "release"

CART = """model Cart
  parameter Real M = 2, m = 0.5, L = 0.8, g = 9.81, b = 0.3;
  input Real F(start = 0);
  Real x(start = 0, fixed = true), px(start = 0, fixed = true), py(start = L), T;
  Real vx(start = 0, fixed = true), vpx(start = 0, fixed = true), vpy;
  output Real position = x;
equation
  vx = der(x); vpx = der(px); vpy = der(py);
  M * der(vx) = F - b * vx + T * (px - x);
  m * der(vpx) = -T * (px - x);
  m * der(vpy) = -T * py - m * g;
  (px - x)^2 + py^2 = L^2;
end Cart;
"""


def run(command, text, *options, status=0):
    path = WORK / "m.mo"
    path.write_text(text)
    done = subprocess.run([DAEDAL, command, str(path), *options, "-q"], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def report(command, text, *options):
    return json.loads(run(command, text, *options, "--json", "-").stdout)


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def solve(a, b):
    """a x = b by elimination; b has several columns."""
    n = len(a)
    rows = [list(a[i]) + list(b[i]) for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def difference(a, b):
    return max((abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)), default=0)


def identity(n):
    return [[float(i == k) for k in range(n)] for i in range(n)]


class Linearize(unittest.TestCase):
    def cart(self, M, m, L, g, b):
        form = report("linearize", CART, "--override", f"M={M},m={m},L={L},g={g},b={b}", "--outputs", "x,T")
        place = {name: k for k, name in enumerate(form["states"])}
        rows = {"x": {"x": 1}, "v": {"der(x)": 1}, "theta": {"x": -1 / L, "px": 1 / L},
                "omega": {"der(x)": -1 / L, "der(px)": 1 / L}}
        self.assertEqual(set(place), {"x", "der(x)", "px", "der(px)"})
        change = [[row.get(name, 0) for name in form["states"]] for row in rows.values()]
        back = solve(change, identity(4))
        a = multiply(multiply(change, form["A"]), back)
        # M v' = F - b v - m g theta; L theta'' = g theta - v' with the pendulum upright.
        expected = [[0, 1, 0, 0], [0, -b / M, -m * g / M, 0], [0, 0, 0, 1],
                    [0, b / (M * L), (M + m) * g / (M * L), 0]]
        self.assertLess(difference(a, expected), 1e-10 * (1 + max(map(abs, sum(expected, [])))))
        self.assertLess(difference(multiply(change, form["B"]), [[0], [1 / M], [0], [-1 / (M * L)]]), 1e-10)
        self.assertLess(difference(multiply(form["C"], back), [[1, 0, 0, 0], [0, 0, 0, 0]]), 1e-10)

    def test_cart(self):
        draw = random.Random(1)
        for _ in range(4 if SLOW else 20):
            self.cart(*(round(draw.uniform(0.2, 5), 3) for _ in range(5)))

    def test_random_linear_models(self):
        """x' = A x + B u, z = C x + D u, the equations mixed by a random matrix."""
        draw = random.Random(2)
        for _ in range(5 if SLOW else 40):
            n, m, p = draw.randint(1, 5), draw.randint(1, 2), draw.randint(1, 3)
            matrix = lambda rows, columns: [[round(draw.uniform(-2, 2), 2) for _ in range(columns)] for _ in range(rows)]
            a, b, c, d, mix = matrix(n, n), matrix(n, m), matrix(p, n), matrix(p, m), matrix(n, n)
            for i in range(n):
                mix[i][i] += 6
            term = lambda row, name: " + ".join(f"({value})*{name}{k}" for k, value in enumerate(row))
            lines = ["model M"] + [f"  input Real u{k}(start = {k});" for k in range(m)]
            lines += [f"  Real x{k}(start = 0, fixed = true);" for k in range(n)]
            lines += [f"  output Real z{k};" for k in range(p)] + ["equation"]
            residual = [f"(der(x{i}) - ({term(a[i], 'x')} + {term(b[i], 'u')}))" for i in range(n)]
            lines += ["  " + " + ".join(f"({mix[i][k]})*{residual[k]}" for k in range(n)) + " = 0;" for i in range(n)]
            lines += [f"  z{i} = {term(c[i], 'x')} + {term(d[i], 'u')};" for i in range(p)] + ["end M;"]
            form = report("linearize", "\n".join(lines))
            order = [form["states"].index(f"x{k}") for k in range(n)]
            pick = lambda rows: [[row[k] for k in order] for row in rows]
            self.assertLess(difference([pick(form["A"])[k] for k in order], a), 1e-10)
            self.assertLess(difference([form["B"][k] for k in order], b), 1e-10)
            self.assertLess(difference(pick(form["C"]), c), 1e-10)
            self.assertLess(difference(form["D"], d), 1e-10)

    def test_chain(self):
        n = 20 if SLOW else 100
        text = (SOURCE / "tests/models/chain_links.mo").read_text()
        begin = time.process_time()
        form = report("linearize", text, "--override", f"n={n}")
        self.assertEqual(len(form["states"]), 2 * n)
        self.assertTrue(form["stable"])
        self.assertTrue(all(abs(mode["real"] + 0.1) < 1e-6 for mode in form["modes"]))

    def test_files(self):
        mat, svg = WORK / "c.mat", WORK / "c.svg"
        run("linearize", CART, "--output-file", str(mat), "--plot", str(svg))
        data, at, found = mat.read_bytes(), 0, {}
        while at < len(data):
            kind, rows, columns, _, length = struct.unpack_from("<5i", data, at)
            name = data[at + 20:at + 20 + length - 1].decode()
            at += 20 + length
            found[name] = (rows, columns)
            at += rows * columns * (8 if kind == 0 else 1)
        self.assertEqual(found["A"], (4, 4))
        self.assertEqual(found["D"], (1, 1))
        self.assertIn("stateName", found)
        self.assertIn("position / F", svg.read_text())
        self.assertIn("angular frequency", run("linearize", CART, "--plot", "-").stdout)

    def test_refusals(self):
        self.assertIn("not a Real input", run("linearize", CART, "--inputs", "x", status=2).stderr)
        self.assertIn("nothing", run("linearize", CART, "--outputs", "nothing", status=2).stderr)


class Steady(unittest.TestCase):
    def test_pendulum(self):
        """Index 3: the pendulum hangs, or stands."""
        text = (SOURCE / "examples/pendulum.mo").read_text()
        found = report("steady", text)
        values = found["values"]
        self.assertAlmostEqual(values["x"], 0, delta=1e-6)
        self.assertEqual(found["stability"], "unstable" if values["y"] > 0 else "undecided")

    def test_random(self):
        """Reactions with a feed: x' = f - k x - sum of exchanges; against a linear solve."""
        draw = random.Random(3)
        for _ in range(3 if SLOW else 20):
            n = draw.randint(2, 6)
            k = [[draw.uniform(0, 1) for _ in range(n)] for _ in range(n)]
            f = [draw.uniform(0, 2) for _ in range(n)]
            a = [[(k[j][i] if i != j else -1 - sum(k[i][j] for j in range(n) if j != i)) for j in range(n)]
                 for i in range(n)]
            lines = ["model M"] + [f"  Real x{i}(start = 0.1, fixed = true);" for i in range(n)] + ["equation"]
            lines += [f"  der(x{i}) = {f[i]!r} + " + " + ".join(f"({a[i][j]!r})*x{j}" for j in range(n)) + ";" for i in range(n)]
            found = report("steady", "\n".join(lines + ["end M;"]))
            expected = solve(a, [[-value] for value in f])
            for i in range(n):
                self.assertAlmostEqual(found["values"][f"x{i}"], expected[i][0], delta=1e-9 * (1 + abs(expected[i][0])))
            self.assertEqual(found["stability"], "stable")


if __name__ == "__main__":
    unittest.main()
