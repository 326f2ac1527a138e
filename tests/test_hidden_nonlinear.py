"""Nonlinear DAEs of known index 1 to 3 and known solution, hidden by nonlinear changes of variables, from start values that are
exactly consistent.

z' = rate*z together with N z' + z = g(t) is a DAE of known index. z is a chain of shears z[i] - q(z[j]) of the variables x, and rows are
mixed with factors that depend on time and on x. The derivatives have no start values: the initial values must be found from only x, and x must stay close to its start values.

Wide runs: see runs.py."""
import json
import math
import os
import random
import subprocess
import tempfile
import unittest

from runs import limit_processor_time, seeds

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()

# Found only by continuation in the guess.
OTHERS = (197, 443, 701)

# Shears: text of the function, of its derivative, the function.
SHEARS = [("{a}*({u})^2", "2*{a}*({u})", lambda a, u: a * u * u), ("{a}*sin({u})", "{a}*cos({u})", lambda a, u: a * math.sin(u)),
          ("{a}*({u})", "{a}", lambda a, u: a * u),
          ("{a}*exp(-({u})^2)", "({a})*exp(-({u})^2)*(-2*({u}))", lambda a, u: a * math.exp(-u * u)),
          ("{a}*({u})^3", "3*({a})*({u})^2", lambda a, u: a * u ** 3)]


class Hidden:
    def __init__(self, seed):
        rng = random.Random(seed)
        index = 1 + seed % 3
        self.sizes = [index] + [rng.randint(1, index) for _ in range(rng.randint(0, 1))]
        self.d = rng.randint(1, 2)
        self.n = self.d + sum(self.sizes)
        self.rate = [-rng.randint(1, 4) / 4 for _ in range(self.d)]
        self.first = [rng.randint(-4, 4) / 4 or 1 for _ in range(self.d)]
        self.wave = [(rng.choice([1, 0.5, -1]), rng.choice([0.5, 1, 2]), rng.randint(0, 6) / 2) for _ in range(self.n)]
        self.z, self.rates, self.moves = [f"x{i}" for i in range(self.n)], [f"der(x{i})" for i in range(self.n)], []
        for _ in range(rng.choice([self.n - 1, self.n + 1])):
            self.shear(*rng.sample(range(self.n), 2), rng.choice([0.5, 1, -0.5]), rng.choice(SHEARS))
            if max(map(len, self.z)) > 400:
                break
        self.rows = self.canonical_rows()
        for _ in range(rng.choice([0, self.n - 1])):
            i, j = rng.sample(range(self.n), 2)
            factor = rng.choice(["sin(time)", f"x{rng.randrange(self.n)}", "1", "(time - 0.5)"])
            if len(self.rows[i]) + len(self.rows[j]) < 3000:
                self.rows[i] += f" + {factor}*({self.rows[j]})"

    def shear(self, i, j, a, kind):
        u = self.z[j]
        self.z[i] += " - " + kind[0].format(a=a, u=u)
        self.rates[i] += f" - ({kind[1].format(a=a, u=u)})*({self.rates[j]})"
        self.moves.append((i, j, a, kind[2]))

    def chains(self):
        """(k, end) of each row of the nilpotent part: its chain ends before `end`."""
        at = self.d
        for size in self.sizes:
            yield from ((k, at + size) for k in range(at, at + size))
            at += size

    def canonical_rows(self):
        rows = [f"({self.rates[k]}) - ({self.rate[k]})*({self.z[k]})" for k in range(self.d)]
        for k, end in self.chains():
            tail = f" - ({self.rates[k + 1]})" if k + 1 < end else ""
            rows.append(f"({self.z[k]}){tail} - (%s*sin(%s*time + %s))" % self.wave[k])
        return rows

    def solution(self):
        """x at time 0."""
        x = list(self.first)
        for k, end in self.chains():
            x.append(sum(self.wave[m][0] * self.wave[m][1] ** (m - k) * math.sin(self.wave[m][2] + (m - k) * math.pi / 2)
                         for m in range(k, end)))
        for i, j, a, q in reversed(self.moves):
            x[i] += q(a, x[j])
        return x

    def text(self, name):
        starts = "".join(f"  Real x{i}(start = {value!r});\n" for i, value in enumerate(self.solution()))
        return f"model {name}\n{starts}equation\n" + "".join(f"  {row} = 0;\n" for row in self.rows) + f"end {name};\n"


class HiddenNonlinear(unittest.TestCase):
    def test_consistent_starts(self):
        """At most one in a hundred is refused, and at most one in a hundred moves by more than a tenth."""
        refused, moved, members = [], [], [*seeds(60), *OTHERS]
        for seed in members:
            hidden = Hidden(seed)
            path = os.path.join(WORK, "hidden.mo")
            with open(path, "w") as file:
                file.write(hidden.text("Hidden"))
            run = subprocess.run([DAEDAL, "init", path, "--json", "-"], capture_output=True, text=True, preexec_fn=limit_processor_time)
            if run.returncode:
                refused.append((seed, run.stderr[:200]))
                continue
            values = {value["name"]: value["value"] for value in json.loads(run.stdout)["values"]}
            if max(abs(values[f"x{i}"] - x) for i, x in enumerate(hidden.solution())) > 0.1:
                moved.append(seed)
        self.assertLessEqual(len(refused), len(members) / 100, refused)
        self.assertLessEqual(len(moved), len(members) / 100, moved)


if __name__ == "__main__":
    unittest.main()
