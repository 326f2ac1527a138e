"""Conditions that guard the domain of a function: tanks with an outlet k*sqrt(h) run empty, stay empty, and are filled again. When they
are empty, h is zero except for round-off, on either side of the domain. Its slope is infinite there: a Jacobian from that point
says nothing about the step."""
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


if __name__ == "__main__":
    unittest.main()
