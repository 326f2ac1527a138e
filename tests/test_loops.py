"""Loops of equations compared with the same equations written out: the flat text and every number of a run must agree exactly.

The bodies of the loops are random: arithmetic, which is compiled once for all values of the iterators; parts that depend on the values of iterators (branches, sizes, types, calls); nested
loops whose ranges depend on each other; names that hide others.

Wide runs: see runs.py."""
import os
import random
import re
import subprocess
import tempfile
import unittest

from runs import Tally, seeds, simulate

SIZE = 5

# Right sides; {s} is an iterator or a number, {t} another one.
RIGHT = (
    "p[{s}]*x[{s}] - {s}*y[{s}]",
    "-x[{s}] + x[mod({s}, n) + 1]/{s}",
    "-{s}*x[{s}] + ({s} + 1)/2",
    "if {s} == 2 then -x[2] else sin(time)*{s} - x[{s}]",
    "if {s} > k then -2*x[{s}] else -x[{s}]*p[{s}]",
    "if time > 0.3*{s} then -x[{s}] else p[{s}]",
    "sum({{x[q]*q for q in 1:{s}}}) - 20*x[{s}]",
    "f(x[{s}], {s})",
    "-x[{s}]*abs(x[{s}])^({s} - 1) + a[{s}].u",
    "-(x*x)*x[{s}] + min(p)*{s}",
    "cos({s}*time) - x[{s}] - b[{s}, mod({s} + {t}, n) + 1]",
    "-x[n + 1 - {s}]*p[end] - 3*x[{s}] + time*{s}",
    "-x[{s}] + (if noEvent(x[{s}] > 0) then {s} else -{t})",
)
ALGEBRAIC = ("{s}*sin(time) + x[{s}]", "x[{s}]*p[{s}] - {t}", "y[{s} - 1] + x[{s}]/{s}", "if {s} <= 3 then x[{s}] else y[2]*{s}", "g[{s}] + time^{s}")


def body(rng, iterator, other):
    lines = [f"der(x[{{s}}]) = {rng.choice(RIGHT)};", f"y[{{s}}] = {rng.choice(ALGEBRAIC)};"]
    if rng.random() < 0.5:
        lines.reverse()
    return "\n".join(lines).replace("{s}", iterator).replace("{t}", other).replace("{{", "{").replace("}}", "}")


def written_out(text, values):
    """The text once for each value of the iterator named in (name, value)."""
    return "\n".join(re.sub(rf"(?<![\w.]){name}(?!\w)", str(value), text) for name, value in values)


def draw(rng):
    """A model with loops, and the same written out."""
    first = f"der(x[1]) = -x[1] + {rng.choice(['time', 'p[1]', '0.5'])};\ny[1] = x[1];"
    name = rng.choice(["i", "k", "x1"])  # k hides a parameter
    inner = body(rng, name, rng.choice(["3", "1"]))
    loops = f"for {name} in 2:n loop\n{inner}\nend for;"
    plain = written_out(inner, [(name, v) for v in range(2, SIZE + 1)])
    if rng.random() < 0.4:  # two loops instead of one, the second backwards
        loops = f"for {name} in 2:3 loop\n{inner}\nend for;\nfor {name} in n:-1:4 loop\n{inner}\nend for;"
        plain = written_out(inner, [(name, v) for v in (2, 3, 5, 4)])
    entry = rng.choice(["b[i, j] = i*x[j] + j*p[i];", "b[i, j] = if i < j then x[i]*j else x[j]*i;", "b[i, j] = (j - i)*w[i, j] + x[i];"])
    if rng.random() < 0.5:
        matrix = f"for i in 1:n, j in 1:n loop\n{entry}\nend for;"
        pairs = [(i, j) for i in range(1, SIZE + 1) for j in range(1, SIZE + 1)]
        cells = "\n".join(written_out(written_out(entry, [("i", i)]), [("j", j)]) for i, j in pairs)
    else:
        low = entry.replace("b[i, j]", "b[j, i]")
        matrix = f"for i in 1:n loop\nfor j in 1:i loop\n{entry}\nend for;\nfor j in 1:i - 1 loop\n{low}\nend for;\nend for;"
        cells = "\n".join(written_out("\n".join([written_out(entry, [("j", j) for j in range(1, i + 1)]), written_out(low, [("j", j) for j in range(1, i)])]), [("i", i)])
                          for i in range(1, SIZE + 1))
    weight = rng.choice(["a[r].u = r*time; a[r].v = a[r].u - r;", "a[r].u = sin(r*time); a[r].v = x[r]^2;"])
    field = f"for r in 1:n loop {weight} end for;"
    fields = written_out(weight, [("r", v) for v in range(1, SIZE + 1)])
    steps = "for v in {0.5, 1.5} loop\ng[integer(v + 0.5)] = v*x[1];\nend for;\nfor i in 3:n loop g[i] = g[i - 1] + i; end for;"
    values = "g[1] = 0.5*x[1];\ng[2] = 1.5*x[1];\n" + written_out("g[i] = g[i - 1] + i;", [("i", v) for v in range(3, SIZE + 1)])
    head = f"""package P
  record R Real u; Real v; end R;
  function f
    input Real u; input Integer m; output Real r;
  algorithm
    r := -u; for q in 1:m loop r := r - u/q; end for;
  end f;
  model M
    parameter Integer n = {SIZE};
    parameter Real k = 2.5, p[n] = {{0.5*q for q in 1:n}}, w[n, n] = fill(0.25, n, n);
    Real x[n](each start = 1, each fixed = true), y[n], g[n], b[n, n];
    R a[n];
  equation
"""
    tail = "\n  end M;\nend P;\n"
    return [head + "\n".join(parts) + tail for parts in ((first, loops, matrix, field, steps), (first, plain, cells, fields, values))]


def flat(text):
    with tempfile.NamedTemporaryFile("w", suffix=".mo") as file:
        file.write(text)
        file.flush()
        return subprocess.run([os.environ["DAEDAL"], "flatten", file.name], capture_output=True, text=True).stdout


class Loops(unittest.TestCase):
    def test_loops(self):
        tally = Tally("loops")
        for seed in seeds(400, quick=40):
            loops, plain = draw(random.Random(seed))
            text = flat(loops)
            self.assertTrue(text, f"model {seed}\n{loops}")
            self.assertEqual(text, flat(plain), f"model {seed}\n{loops}")
            runs = [simulate(text, stop_time=1, intervals=20) for text in (loops, plain)]
            tally.add(runs[0], lambda: runs[0].columns == runs[1].columns, seed, "as written")
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
