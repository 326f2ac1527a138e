"""Large arrays of equal cells, whose explicit equations run as templates over all cells.

A cell has a state, unknowns that random expressions give, and two unknowns in a balance of flows, as connectors make it. Expressions
use earlier unknowns, the states of neighbours and coefficients of the cell. Equations come in a random order, as loops and one by one.
All values at the start must be those that Python computes from the same expressions. Some cells differ from the others: one has a
different expression, and each tenth a coefficient 0, which makes its equation shorter.

Wide runs: see runs.py."""
import math
import random
import unittest

from runs import Tally, check, seeds, simulate

SIZES = (40, 130, 700, 1500)


class Cells:
    def __init__(self, rng):
        self.count, self.unknowns = rng.choice(SIZES), rng.randint(2, 5)
        self.odd = rng.randint(2, self.count - 1)
        self.values = {"x": [rng.uniform(-1, 1) for _ in range(self.count)], "c": [rng.uniform(0.5, 2) for _ in range(self.count)]}
        self.values["c"][9::10] = [0.0] * len(self.values["c"][9::10])
        self.expressions = [self.expression(rng, k) for k in range(self.unknowns)]
        self.other = self.expression(rng, 0)
        self.order = rng.sample(range(self.unknowns + 3), self.unknowns + 3)

    def term(self, rng, k):
        leaf = rng.choice(["x[{i}]", "x[{left}]", "x[{right}]", "time", *(f"a{j}[{{i}}]" for j in range(k))])
        return rng.choice(["{0}", "sin({0})", "{0}*{0}", "c[{{i}}]*{0}", "{0}/(2 + cos({0}))", "exp(-{0}*{0})"]).format(leaf)

    def expression(self, rng, k):
        return " + ".join(f"{rng.choice([1, -1, 0.25, 3])}*{self.term(rng, k)}" for _ in range(rng.randint(1, 4)))

    def place(self, text, i, left, right):
        return text.format(i=i, left=left, right=right)

    def text(self):
        n, last = self.count, self.count
        lines = ["model Cells", f"  parameter Real c[{n}] = {{{', '.join(map(repr, self.values['c']))}}};",
                 f"  Real x[{n}](start = {{{', '.join(map(repr, self.values['x']))}}}, each fixed = true);",
                 f"  Real {', '.join(f'a{k}[{n}]' for k in range(self.unknowns))}, m[{n}], p[{n}], q[{n}];", "equation"]
        rules = [f"a{k}[{{i}}] = {e}" for k, e in enumerate(self.expressions)]
        flow = f"a{self.unknowns - 1}[{{i}}]"
        rules += ["p[{i}] = 2*(m[{i}] - x[{i}])", f"q[{{i}}] = 3*(m[{{i}}] - {flow})", "p[{i}] + q[{i}] = 0"]
        for k in self.order:
            for i, left, right in ((1, n, 2), (last, n - 1, 1)):
                lines.append(f"  {self.place(rules[k], i, left, right)};")
            if k:
                lines.append(f"  for i in 2:{n - 1} loop {self.place(rules[k], 'i', 'i - 1', 'i + 1')}; end for;")
                continue
            odd = self.odd
            lines.append(f"  for i in 2:{odd - 1} loop {self.place(rules[0], 'i', 'i - 1', 'i + 1')}; end for;")
            lines.append(f"  for i in {odd + 1}:{n - 1} loop {self.place(rules[0], 'i', 'i - 1', 'i + 1')}; end for;")
            lines.append(f"  a0[{odd}] = {self.place(self.other, odd, odd - 1, odd + 1)};")
        lines.append(f"  for i in 1:{n} loop der(x[i]) = a{self.unknowns - 1}[i] - x[i]; end for;")
        return "\n".join(lines + ["end Cells;", ""])

    def expected(self):
        """Values by name, evaluated in the order of the unknowns."""
        names = {name: dict(enumerate(values, 1)) for name, values in self.values.items()}
        names.update({name: getattr(math, name) for name in ("sin", "cos", "exp")}, time=0.0)
        found = {}
        for k in range(self.unknowns):
            names[f"a{k}"] = {}
        for i in range(1, self.count + 1):
            left, right = i - 1 or self.count, i % self.count + 1
            for k, e in enumerate(self.expressions):
                text = self.other if k == 0 and i == self.odd else e
                names[f"a{k}"][i] = found[f"a{k}[{i}]"] = eval(self.place(text, i, left, right), names)
            x, given = names["x"][i], names[f"a{self.unknowns - 1}"][i]
            m = found[f"m[{i}]"] = (2 * x + 3 * given) / 5
            found[f"p[{i}]"], found[f"q[{i}]"], found[f"der(x[{i}])"] = 2 * (m - x), 3 * (m - given), given - x
        return found


def is_right(cells, run):
    return all(abs(run.columns[name][0] - value) <= 1e-12 * (1 + abs(value)) for name, value in cells.expected().items())


class Test(unittest.TestCase):
    def test_values(self):
        tally = Tally("cells")
        for seed in seeds(40, 8):
            cells = Cells(random.Random(seed))
            run = simulate(cells.text(), stop_time=1e-3, intervals=1)
            tally.add(run, lambda cells=cells, run=run: is_right(cells, run), seed, cells.count)
        tally.check(self)

    def test_singular_pair_anywhere(self):
        """Blocks are examined in batches of 65,536: a pair of equations that contradict each other is found in each of them."""
        for seed in seeds(2):
            rng = random.Random(f"pair {seed}")
            count = rng.randint(140000, 200000)
            before = rng.choice([rng.randrange(1, 1000), rng.randrange(66000, 130000), rng.randrange(count - 1000, count)])
            text = (f"model M\n parameter Real k = 2; Real a[{count}], y, z;\nequation\n for i in 1:{before} loop k*a[i] = i; end for;\n"
                    f" k*y + z = 1; 2*k*y + 2*z = time;\n for i in {before + 1}:{count} loop k*a[i] = i; end for;\nend M;\n")
            self.assertIn(f"equation {before + 2} - 2*equation {before + 1} gives 2 - time = 0", check(text).words, text)


if __name__ == "__main__":
    unittest.main()
