"""Structure that the left limit of a discrete variable decides: `if pre(b)` chooses between an equation for a rate and a
constraint.

Both branches have the same solution, x = s*sin(time) and the values that follow from it, so each run has a closed form. A sample, the state
or the time changes b.

Wide runs: see runs.py."""
import math
import random
import unittest

from runs import Tally, by_turns, seeds, simulate, solver_names

CHANGES = (
    "when sample({0!r}, {1!r}) then b = not pre(b); end when;",
    "when sin({2!r}*time) > 0.1 then b = not pre(b); end when;",
    "when {{x > {0!r}*s, x < -{0!r}*s}} then b = not pre(b); end when;",
    "b = if pre(b) then x > -{0!r}*s else x > {0!r}*s;",
)


def draw(rng):
    changes = rng.choice(CHANGES).format(rng.uniform(0.05, 0.6), rng.uniform(0.1, 0.7), rng.uniform(3, 12)).replace("{{", "{").replace("}}", "}")
    scale = rng.choice([0.5, 1.0, 3.0])
    chooses = rng.choice(["pre(b)", "not pre(b)", "pre(b) and time > 0.3"])
    return f"""model M
  parameter Real s = {scale!r};
  Real x(start = 0, fixed = {'true' if chooses == 'not pre(b)' else 'false'}), u, y(start = 0, fixed = true);
  Boolean b(start = false, fixed = true);
equation
  der(x) = u;
  0 = if {chooses} then u - s*cos(time) else x - s*sin(time);
  der(y) = x;
  {changes}
end M;
""", scale


class StructureByPre(unittest.TestCase):
    def test_structure(self):
        tally = Tally("structure by pre")
        for seed in seeds(200, quick=24):
            rng = random.Random(seed)
            text, scale = draw(rng)
            stop = rng.uniform(2, 6)
            for solver in by_turns(solver_names(), seed):
                run = simulate(text, solver=solver, stop_time=stop, tolerance=1e-6, intervals=50)
                x = scale * math.sin(stop)
                tally.add(run, lambda: abs(run.end("x") - x) < 1e-4 * scale and abs(run.end("y") - scale * (1 - math.cos(stop))) < 1e-4 * scale, seed, solver)
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
