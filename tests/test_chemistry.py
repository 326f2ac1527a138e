"""Stiff chemistry at loose tolerances: concentrations have min = 0, and no run takes them below it.

Robertson's problem, and random networks of reactions with rates over nine decades. Below zero such equations are unstable. Each run is compared with one at a tight tolerance. A run that
reports that a state leaves its
bounds (D909) counts as refused. Concentrations differ by ten decades, and have no nominal values.

Wide runs: see runs.py."""
import random
import unittest

from runs import Tally, by_turns, seeds, simulate, solver_names

SOLVERS = [name for name in solver_names() if name not in ("erk", "dopri5")]

ROBERTSON = """model Robertson
  Real c1(start = 1, fixed = true, min = 0), c2(start = 0, fixed = true, min = 0), c3(start = 0, fixed = true, min = 0);
equation
  der(c1) = -0.04*c1 + 1e4*c2*c3;
  der(c2) = 0.04*c1 - 1e4*c2*c3 - 3e7*c2^2;
  der(c3) = 3e7*c2^2;
  annotation(experiment(StopTime = {stop!r}));
end Robertson;
"""


def absent_for_good(starts, reactions):
    """The substances that are absent, and that no reaction makes from the others: zero is their exact solution.
    It is often unstable: round-off makes a run leave it, and no reference shows at which time."""
    there = {k for k, start in enumerate(starts, 1) if start > 0}
    while True:
        made = {product for needs, product in reactions if needs <= there} - there
        if not made:
            return [k for k in range(1, len(starts) + 1) if k not in there]
        there |= made


def network(rng):
    """Reactions of one or two molecules by the law of mass action. Each reaction keeps the number of molecules, so no concentration exceeds
    the sum."""
    count = rng.randint(3, 6)
    rates = {k: [] for k in range(1, count + 1)}
    reactions = []
    for k in list(rates) + [rng.randint(1, count) for _ in range(count)]:
        other = rng.choice([j for j in rates if j != k])
        partner = rng.choice([None, k, rng.randint(1, count)])
        speed = 10**rng.uniform(-2, 7 if partner else 4)
        rate = f"{speed!r}*c{k}" + (f"*c{partner}" if partner else "")
        rates[k].append("-" + rate)
        rates[other].append("+" + rate)
        reactions.append(({k, partner or k}, other))
    starts = [rng.choice([0.0, 1.0, rng.random()]) for _ in rates]
    starts[0] = 1.0
    for k in absent_for_good(starts, reactions):
        starts[k - 1] = 0.1*k
    declared = ", ".join(f"c{k}(start = {start!r}, fixed = true, min = 0)" for k, start in zip(rates, starts))
    equations = "\n".join(f"  der(c{k}) = {' '.join(terms) or '0'};" for k, terms in rates.items())
    stop = 10**rng.uniform(0, 4)
    return f"model Network\n  Real {declared};\nequation\n{equations}\n  annotation(experiment(StopTime = {stop!r}));\nend Network;\n", sum(starts)


def largest_miss(run, fine):
    names = [name for name in fine.columns if name.startswith("c")]
    return max(abs(a - b) for name in names for a, b in zip(run.columns[name], fine.columns[name]))


class Inside(unittest.TestCase):
    """A state that follows an input down to its min and back, in steps that are long compared with the input: no value between
    their ends is below the min by more than the tolerance."""

    def test_inside(self):
        tally = Tally("bounds inside of steps")
        for seed in seeds(200, 40):
            rng = random.Random(seed)
            speed, frequency, power = 10**rng.uniform(0, 4), 10**rng.uniform(-0.5, 1), rng.choice([1, 2, 4])
            text = (f"model M\n  Real x(start = 1, fixed = true, min = 0);\nequation\n"
                    f"  der(x) = -{speed!r}*(x - ((1 + cos({frequency!r}*time))/2)^{power});\n  annotation(experiment(StopTime = 20));\nend M;\n")
            for tolerance in by_turns((1e-2, 1e-3, 1e-4, 1e-6), seed):
                for solver in by_turns(SOLVERS, seed//4):
                    run = simulate(text, solver=solver, tolerance=tolerance, intervals=1000)
                    tally.add(run, lambda: min(run.columns["x"]) >= -1.5*tolerance and "its min" not in run.words, seed, solver, tolerance)
        tally.check(self)


class Chemistry(unittest.TestCase):
    def compare(self, tally, text, size, fine, turn, what, solvers):
        for tolerance in by_turns((1e-2, 1e-3), turn):
            for solver in by_turns(solvers, turn//2):
                run = simulate(text, solver=solver, tolerance=tolerance, intervals=50)
                if run.status == 0 and "goes below its min" in run.words:
                    run.status, run.cause = 6, "D909"
                tally.add(run, lambda: largest_miss(run, fine) <= 100*tolerance*size, what, solver, tolerance)

    def test_robertson(self):
        tally = Tally("Robertson's problem")
        for turn, stop in enumerate((40.0, 4e3, 4e5)):
            text = ROBERTSON.format(stop=stop)
            fine = simulate(text, solver="bdf", tolerance=1e-9, intervals=50)
            for step in range(4):
                self.compare(tally, text, 1, fine, 2*turn + 3*step, f"to {stop}", SOLVERS)
        tally.check(self)

    def test_networks(self):
        tally = Tally("networks of reactions")
        for seed in seeds(200, quick=20):
            text, size = network(random.Random(seed))
            fine = simulate(text, solver="bdf", tolerance=1e-9, intervals=50)
            if fine.status:  # a concentration of exactly zero may be an unstable solution
                tally.add_refused(fine, "seed", seed, "reference")
                continue
            self.compare(tally, text, size, fine, seed, f"seed {seed}", SOLVERS)
        tally.check(self, may_refuse=0.02)


if __name__ == "__main__":
    unittest.main()
