"""Sliding along jumps: tables of steps, of states or of the time, written in every way that the language has for them.

A step may be an if with or without events, or be computed in a function by if, for or while. The solution slides along the edges of some of them, and reaches edges of others while it
slides. The reference takes many small steps, which chatter around an edge within the length of a step."""
import math
import random
import unittest

from runs import Tally, by_turns, seeds, simulate

STOP, STEPS, POINTS = 6.0, 12000, 30  # steps of the reference
SOLVERS = ("auto", "erk", "radau", "bdf", "ida", "cvode")

LOOPS = {
    "while": "j := 1; while j <= {count} and u > p[min(j, {count})] loop j := j + 1; end while;",
    "for": "j := 1; for n in 1:{count} loop if u > p[n] then j := n + 1; end if; end for;",
    "break": "j := 1; for n in 1:{count} loop if u <= p[n] then break; end if; j := n + 1; end for;",
}


class Table:
    """A step function, in Modelica and in Python; its argument is an expression that both languages understand."""

    def __init__(self, rng, number, states):
        self.name = f"f{number}"
        count = rng.randint(1, 5)
        self.edges = sorted(round(rng.uniform(-1, 1), 3) for _ in range(count))
        self.values = [round(rng.uniform(-3, 3), 3) for _ in range(count + 1)]
        self.form = rng.choice(["if", "noEvent", "branches", *LOOPS])
        omega, phase = round(rng.uniform(0.5, 4), 3), round(rng.uniform(0, 3), 3)
        state = f"x{rng.randrange(states)}"
        self.argument = rng.choice([state, state, f"({state} - 0.5*sin({omega}*time))", f"sin({omega}*time + {phase})"])

    def at(self, u):
        return self.values[sum(u > edge for edge in self.edges)]

    def choice(self, argument, relation):
        text = repr(self.values[-1])
        for edge, value in reversed(list(zip(self.edges, self.values))):
            text = f"(if {relation.format(f'{argument} > {edge!r}')} then {text} else {value!r})"
        return text

    def text(self):
        if self.form in ("if", "noEvent"):
            return self.choice(self.argument, "noEvent({})" if self.form == "noEvent" else "{}")
        return f"{self.name}({self.argument})"

    def function(self):
        if self.form in ("if", "noEvent"):
            return ""
        if self.form == "branches":
            branches = [f"{'elseif' if k else 'if'} u <= {edge!r} then y := {value!r};" for k, (edge, value) in enumerate(zip(self.edges, self.values))]
            return f"  function {self.name} input Real u; output Real y; algorithm {' '.join(branches)} else y := {self.values[-1]!r}; end if; end {self.name};\n"
        count, numbers = len(self.edges), [", ".join(map(repr, list)) for list in (self.edges, self.values)]
        return (f"  function {self.name} input Real u; output Real y; protected Integer j; Real p[{count}] = {{{numbers[0]}}}; "
                f"Real q[{count + 1}] = {{{numbers[1]}}}; algorithm {LOOPS[self.form].format(count=count)} y := q[j]; end {self.name};\n")


class Model:
    """States with linear rates, forces and tables."""

    def __init__(self, rng):
        self.states = rng.randint(1, 2)
        self.tables = [Table(rng, k, self.states) for k in range(rng.randint(1, 3))]
        self.target = [rng.randrange(self.states) for _ in self.tables]
        self.start = [round(rng.uniform(-1, 1), 3) for _ in range(self.states)]
        self.linear = [f"-{rng.uniform(0.3, 4):.3f}*x{i} + {rng.uniform(0.5, 3):.3f}*sin({rng.uniform(0.5, 7):.3f}*time + {rng.uniform(0, 6):.3f})"
                       for i in range(self.states)]

    def text(self):
        rows = [" + ".join([self.linear[i], *(table.text() for table, target in zip(self.tables, self.target) if target == i)]) for i in range(self.states)]
        declared = "".join(f"  Real x{i}(start = {start!r}, fixed = true);\n" for i, start in enumerate(self.start))
        equations = "".join(f"  der(x{i}) = {row};\n" for i, row in enumerate(rows))
        return f"model M\n{''.join(table.function() for table in self.tables)}{declared}equation\n{equations}end M;\n"

    def reference(self, steps):
        """The states at the output points."""
        linear = [eval(f"lambda time, x0, x1=0, sin=math.sin: {text}") for text in self.linear]  # pylint: disable=eval-used
        argument = [eval(f"lambda time, x0, x1=0, sin=math.sin: {table.argument}") for table in self.tables]  # pylint: disable=eval-used
        x, h, rows = list(self.start), STOP/steps, []
        for step in range(steps + 1):
            if step % (steps//POINTS) == 0:
                rows.append(list(x))
            t = (step + 0.5)*h
            rate = [f(t, *x) for f in linear]
            for table, target, u in zip(self.tables, self.target, argument):
                rate[target] += table.at(u(t, *x))
            x = [value + h*slope for value, slope in zip(x, rate)]
        return rows


class Slides(unittest.TestCase):
    def test_slides(self):
        tally = Tally("sliding along steps")
        for seed in seeds(300, quick=24):
            model = Model(random.Random(seed))
            rows = model.reference(STEPS)
            others = [row for part in (2, 3, 4) for row in zip(rows, model.reference(STEPS*part//5//POINTS*POINTS))]
            allowed = 0.01 + 3*max(abs(a - b) for pair in others for a, b in zip(*pair))  # near an edge that the solution leaves, small differences decide
            for tolerance in by_turns((1e-4, 1e-6, 1e-8), seed):
                for solver in by_turns(SOLVERS, seed//3):
                    run = simulate(model.text(), stop_time=STOP, solver=solver, tolerance=tolerance, intervals=POINTS)
                    points = {round(t, 6): k for k, t in enumerate(run.columns.get("time", []))}
                    miss = max((abs(run.columns[f"x{i}"][points[round(k*STOP/POINTS, 6)]] - row[i])
                                for k, row in enumerate(rows) for i in range(model.states)), default=0) if run.status == 0 else 0
                    tally.add(run, lambda miss=miss, allowed=allowed: miss <= allowed, "seed", seed, solver, tolerance, [table.form for table in model.tables], "missed by", miss)
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
