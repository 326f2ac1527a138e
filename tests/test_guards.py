"""Conditions that guard the domain of a function: tanks with an outlet k*sqrt(h) run empty, stay empty, and are filled again. When they
are empty, h is zero except for round-off, on either side of the domain. Its slope is infinite there: a Jacobian from that point
says nothing about the step. And tanks at the same level: the flow between them is given by h1 - h2 = k*m*abs(m), which loses its variable
at m = 0, but has one solution."""
import math
import random
import unittest

from runs import Tally, seeds, simulate

OUTLETS = ("if h > 0 then k*sqrt(h) else 0", "if h <= 0 then 0 else k*sqrt(h)", "k*sqrt(if h > 0 then h else 0)")


def level(k, inflow, time):
    """h of der(h) = inflow - k*sqrt(h), h(0) = 0, from the closed form of the time over u = sqrt(h)."""
    low, high = 0.0, inflow / k
    for _ in range(200):
        u = (low + high) / 2
        passed = -2 / k * (u + inflow / k * math.log1p(-k * u / inflow)) if k * u < inflow else math.inf
        low, high = (u, high) if passed < time else (low, u)
    return low * low


class Tanks(unittest.TestCase):
    def test_empty_and_filled(self):
        tally, explicit = Tally("tanks with implicit methods"), Tally("tanks with explicit methods")
        for seed in seeds(60, 24):
            rng = random.Random(seed)
            k, start, inflow = rng.uniform(0.3, 3), rng.uniform(0.2, 2), rng.uniform(0.05, 1)
            empty = 2 * math.sqrt(start) / k
            filled, stop = empty * rng.uniform(1.2, 2), empty * rng.uniform(2.1, 4)
            text = f"""model Tank
  parameter Real k = {k!r};
  Real h(start = {start!r}, fixed = true), q, sum(start = 0, fixed = true);
equation
  der(h) = -q + (if time > {filled!r} then {inflow!r} else 0);
  q = {OUTLETS[seed % 3]};
  der(sum) = q;
end Tank;
"""
            solver = ("auto", "radau", "bdf", "ida", "erk", "cvode")[seed % 6]
            run = simulate(text, solver=solver, stop_time=stop, tolerance=1e-7, intervals=50)
            right = level(k, inflow, stop - filled)

            def is_right():
                total = start + inflow * (stop - filled) - right
                return abs(run.end("h") - right) < 1e-5 and abs(run.end("sum") - total) < 1e-5 * (1 + total)

            (explicit if solver in ("erk", "cvode") else tally).add(run, is_right, seed, solver, run.words)
        tally.check(self)
        explicit.check(self, may_refuse=1)


def flow(a, b, k, time):
    """m of 2*k*m*der(m) = a - b*m, m(0) = 0, from the closed form of the time over m."""
    low, high = 0.0, a / b
    for _ in range(200):
        m = (low + high) / 2
        passed = -2 * k / b**2 * (b * m + a * math.log1p(-b * m / a)) if b * m < a else math.inf
        low, high = (m, high) if passed < time else (low, m)
    return low


class Levels(unittest.TestCase):
    def test_two_tanks(self):
        """The tanks stay level, until one of them is filled."""
        tally = Tally("two tanks at one level")
        for seed in seeds(80, 24):
            rng = random.Random(seed)
            areas, k, level, inflow, begin = [rng.uniform(0.3, 3) for _ in range(2)], rng.uniform(0.1, 5), rng.choice((0, 1, -0.3)), rng.uniform(0.01, 1), rng.uniform(0.3, 2)
            first, second = rng.sample(("h1", "h2"), 2)
            text = f"""model Level
  parameter Real k = {k!r};
  Real {first}(start = {level}, fixed = true), {second}(start = {level}, fixed = true), m(start = 0);
equation
  {areas[0]!r}*der(h1) = -m + (if time > {begin!r} then {inflow!r} else 0);
  {areas[1]!r}*der(h2) = m;
  h1 - h2 = k*m*abs(m);
end Level;
"""
            stop = begin + rng.uniform(0.5, 5)
            solver = ("auto", "radau", "bdf", "ida")[seed % 4]
            run = simulate(text, solver=solver, stop_time=stop, tolerance=1e-7, intervals=20)

            def is_right():
                m = flow(inflow / areas[0], sum(1 / area for area in areas), k, stop - begin)
                total = sum(areas) * level + inflow * (stop - begin)
                upper = (total + areas[1] * k * m**2) / sum(areas)
                stays = [h for t, h in zip(run.columns["time"], run.columns["h2"]) if t <= begin]
                return (abs(run.end("m") - m) < 1e-5 * (1 + m) and abs(run.end("h1") - upper) < 1e-5 * (1 + abs(upper))
                        and all(abs(h - level) < 1e-12 for h in stays))

            tally.add(run, is_right, seed, solver, run.words)
        tally.check(self)

    def test_trees(self):
        """Tanks at one level, connected as a tree, with one inflow that begins later: in the end all levels rise alike."""
        tally = Tally("trees of tanks at one level")
        for seed in seeds(40, 10):
            rng = random.Random(seed)
            count = rng.randint(3, 6)
            parent = [0] + [rng.randrange(k) for k in range(1, count)]
            area, k = [rng.uniform(0.3, 3) for _ in range(count)], [rng.uniform(0.1, 2) for _ in range(count)]
            source, inflow = rng.randrange(count), rng.uniform(0.05, 0.5)
            balance = [f"({inflow!r}*(if time > 1 then 1 else 0))" if i == source else "0" for i in range(count)]
            for i in range(1, count):
                balance[parent[i]] += f" - m{i}"
                balance[i] += f" + m{i}"
            lines = [f"  {area[i]!r}*der(h[{i + 1}]) = {balance[i]};" for i in range(count)]
            lines += [f"  h[{parent[i] + 1}] - h[{i + 1}] = {k[i]!r}*m{i}*abs(m{i});" for i in range(1, count)]
            rng.shuffle(lines)
            flows = ", ".join(f"m{i}(start = 0)" for i in range(1, count))
            text = f"model Tree\n  Real h[{count}](each start = 1, each fixed = true), {flows};\nequation\n" + "\n".join(lines) + "\nend Tree;\n"
            run = simulate(text, stop_time=60, tolerance=1e-7, intervals=20)

            def is_right():
                rates = [run.end(f"der(h[{i + 1}])") for i in range(count)]
                total = sum(a * run.end(f"h[{i + 1}]") for i, a in enumerate(area))
                return (abs(total - sum(area) - 59 * inflow) < 1e-5 * total
                        and all(abs(rate - inflow / sum(area)) < 1e-4 for rate in rates))

            tally.add(run, is_right, seed, run.words)
        tally.check(self, may_refuse=0.1)  # flows that begin long after another one are round-off compared with it

    def test_unstable(self):
        """If the flow widens the difference of the levels, it may begin at any time: that is refused."""
        text = """model Away
  Real h1(start = 1, fixed = true), h2(start = 1, fixed = true), m(start = 0);
equation
  der(h1) = m;
  der(h2) = -m;
  h1 - h2 = m*abs(m);
end Away;
"""
        for solver in ("auto", "erk", "radau", "bdf", "ida"):
            run = simulate(text, solver=solver)
            self.assertEqual((run.status, run.cause), (6, "D604"), run.words)


if __name__ == "__main__":
    unittest.main()
