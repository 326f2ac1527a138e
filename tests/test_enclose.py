"""Small initial systems by interval branch and prune: systems whose solutions no local method finds, and systems
without solutions. A system with a solution is never declared unsolvable. If there is no solution within the box, that is proven."""
import random
import unittest

from runs import Tally, seeds, simulate


def well(rng):
    """A solution at a known place; far from it the equations are nearly constant."""
    n = rng.randint(1, 3)
    place = [rng.uniform(50, 900) * rng.choice((-1, 1)) for _ in range(n)]
    width = [rng.uniform(3, 30) for _ in range(n)]
    names = [f"x{k}" for k in range(n)]
    declared = ", ".join(f"{name}(start = 0, min = -1000, max = 1000)" for name in names)
    rows = []
    for k, name in enumerate(names):
        other = names[(k + 1) % n]
        coupling = f" + {rng.uniform(0.01, 0.05)!r}*(({other}) - ({place[(k + 1) % n]!r}))/1000" if n > 1 else ""
        rows.append(f"  exp(-((({name}) - ({place[k]!r}))/{width[k]!r} + 0.5)^2) = exp(-0.25){coupling};")
    return "model well\n  Real " + declared + ";\nequation\n" + "\n".join(rows) + "\nend well;\n", names


def nothing(rng):
    """Sums of a positive term and terms that are never negative."""
    n = rng.randint(1, 3)
    names = [f"x{k}" for k in range(n)]
    declared = ", ".join(f"{name}(start = {rng.uniform(-2, 2)!r})" for name in names)
    rows = []
    for k, name in enumerate(names):
        other = names[(k + 1) % n]
        least = rng.uniform(0.3, 3)
        form = rng.choice((f"({name} - {rng.uniform(-2, 2)!r}*{other})^2", f"exp({name}) + {name}^2", f"{name}^2*(2 + sin({other}))"))
        rows.append(f"  {form} + {least!r} = 0;" if k == 0 else f"  {name} + {rng.uniform(0.1, 0.6)!r}*sin({other}) = {rng.uniform(-1, 1)!r};")
    return "model nothing\n  Real " + declared + ";\nequation\n" + "\n".join(rows) + "\nend nothing;\n", names


class Enclose(unittest.TestCase):
    def test_well(self):
        tally = Tally("well")
        for seed in seeds(60, quick=20):
            text, _ = well(random.Random(f"well {seed}"))
            run = simulate(text, stop_time=0.1)
            self.assertNotIn("proven", run.words, text)
            tally.add(run, lambda: True, "well", seed)
        tally.check(self, 0.1)

    def test_nothing(self):
        proven = 0
        numbers = seeds(60, quick=20)
        for seed in numbers:
            text, _ = nothing(random.Random(f"nothing {seed}"))
            run = simulate(text, stop_time=0.1)
            self.assertEqual(run.status, 5, text)
            proven += "proven by interval arithmetic" in run.words
        self.assertGreaterEqual(proven, 0.8 * len(numbers))


if __name__ == "__main__":
    unittest.main()
