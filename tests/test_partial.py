"""function g = der(f, x): values against difference quotients, for functions that are inlined and those that stay calls; the
text of `flatten` and `reduce` reads back to the same model."""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]

FUNCTIONS = """package P
  function smooth
    input Real x;
    input Real y = 2;
    output Real z;
    output Real w[2];
  algorithm
    z := x^3*sin(y) + exp(x*y);
    w := {x*y, y^3/x};
  end smooth;
  function loops "stays a call: how often it loops is known while running only"
    input Real x;
    input Real y;
    output Real z;
  protected
    Real t = 1;
  algorithm
    z := x^3*sin(y) + exp(x*y);
    while t > 0.1 + x^2 loop
      t := t/2;
    end while;
  end loops;
  function sx = der(smooth, x);
  function sxy = der(sx, y);
  function syxx = der(smooth, y, x, x);
  function lx = der(loops, x);
  function ly = der(loops, y);
  function lxy = der(loops, x, y);
"""


def work(command, text, *options):
    """Exit status, what it printed, what it said, the last row."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "model.mo").write_text(text)
        files = ["--output-file", str(path / "out.csv")] if command == "simulate" else []
        run = subprocess.run([DAEDAL, command, str(path / "model.mo"), *files, *options], capture_output=True, text=True,
                             timeout=60)
        row = {}
        if (path / "out.csv").exists():
            with open(path / "out.csv") as file:
                row = {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}
    return run.returncode, run.stdout, run.stderr, row


def value(x, y):
    return x**3 * math.sin(y) + math.exp(x * y)


class Partial(unittest.TestCase):
    MODEL = FUNCTIONS + """  model M
    parameter Real p = sx(0.5, 1);
    Real x(start = 0.5, fixed = true), a, b, c, d, e, f, g, h, w[2], k;
  equation
    der(x) = 0.3;
    a = sx(x, time);
    b = sxy(x, time);
    c = syxx(x, time);
    d = lx(x, time);
    e = ly(y = time, x = x);
    f = lxy(x, time);
    g = sx(x);
    (h, w) = sx(x, time);
    k = p;
  end M;
end P;
"""

    def test_values(self):
        code, _, words, row = work("simulate", self.MODEL, "--tolerance", "1e-10")
        self.assertEqual(code, 0, words)
        x, y, s = 0.8, 1.0, 1e-4
        by_x = lambda a, b: (value(a + s, b) - value(a - s, b)) / (2 * s)
        by_xy = (by_x(x, y + s) - by_x(x, y - s)) / (2 * s)
        by_yxx = 6 * x * math.cos(y) + math.exp(x * y) * (2 * y + x * y**2)
        expected = {"a": by_x(x, y), "b": by_xy, "c": by_yxx, "d": by_x(x, y), "f": by_xy, "g": by_x(x, 2), "h": by_x(x, y),
                    "e": (value(x, y + s) - value(x, y - s)) / (2 * s), "w[1]": y, "w[2]": -y**3 / x**2, "k": by_x(0.5, 1)}
        for name, number in expected.items():
            self.assertAlmostEqual(row[name], number, delta=1e-5, msg=name)

    def test_flatten_reads_back(self):
        _, flat, _, _ = work("flatten", self.MODEL)
        self.assertIn("function 'loops$d1$d2' = der('loops', 'x', 'y');", flat)
        code, again, words, _ = work("flatten", flat)
        self.assertEqual(code, 0, words)
        self.assertEqual(flat, again)

    def test_elements_of_arrays(self):
        """Derivatives by elements of arrays and records are those of a function of scalars."""
        text = """model M
  record Q Real a; Real b[2]; end Q;
  function f
    input Real p[2];
    input Q q;
    output Real v[2];
  protected
    Real t = 1;
  algorithm
    v := {p[1], p[1]*p[1]*q.a + p[2]^2 + q.b[2]^2};
    while t > 0.1 + p[1]^2 loop
      t := t/2;
    end while;
  end f;
  Real x(start = 0.5), y(start = 0.6, fixed = true), u, v(start = 0, fixed = true), l, w[2];
equation
  der(x) = u;
  der(y) = v;
  der(u) = -l*x;
  der(v) = -l*y - 9.81;
  w = f({x, y}, Q(1, {2, 0.5}));
  w[2] = 1;
  annotation(experiment(StopTime = 0.1, Tolerance = 1e-8));
end M;
"""
        code, _, words, row = work("simulate", text)
        self.assertEqual(code, 0, words)
        _, reduced, _, _ = work("reduce", text)
        self.assertIn("function 'f$s2$d1$d2' = der('f$s2', 'a1', 'a2');", reduced)
        code, _, words, again = work("simulate", reduced)
        self.assertEqual(code, 0, words)
        for name in ("x", "y", "u", "v", "l"):
            self.assertAlmostEqual(row[name], again[name], delta=1e-5, msg=name)

    def test_reduce_reads_back(self):
        text = FUNCTIONS + """  model M
    Real x(start = 0.5), y(start = 0.5, fixed = true), u, v(start = 0.1, fixed = true), l;
  equation
    der(x) = u;
    der(y) = v;
    der(u) = l*lx(x, y);
    der(v) = l*ly(x, y);
    loops(x, y) = 1.5;
    annotation(experiment(StopTime = 0.3, Tolerance = 1e-8));
  end M;
end P;
"""
        code, _, words, row = work("simulate", text)
        self.assertEqual(code, 0, words)
        for method in ("dummy", "underlying"):
            code, reduced, words, _ = work("reduce", text, "--method", method)
            self.assertEqual(code, 0, words)
            self.assertIn("function 'loops$d1$d1' = der('loops', 'x', 'x');", reduced)
            code, _, words, again = work("simulate", reduced)
            self.assertEqual(code, 0, words)
            for name in ("x", "y", "u", "v", "l"):
                self.assertAlmostEqual(row[name], again[name], delta=1e-5, msg=f"{method} {name}")


if __name__ == "__main__":
    unittest.main(verbosity=0, argv=sys.argv)
