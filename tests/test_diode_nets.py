"""Nets of resistors, capacitors and exponential diodes, by every solver at tolerances from 1e-3 to 1e-8.

A diode that stops conducting changes the solution within a small part of a step, at a time that no condition marks. The error
estimate of a method may be small there by chance. Each run is compared with one of another method at a tight tolerance. A run may
be refused, but must never be wrong.

Wide runs: see runs.py."""
import math
import random
import unittest

from runs import Tally, by_turns, seeds, simulate, solver_names

GROUND, SOURCE = -1, 0  # nodes; the others are counted from 1


def voltage(a, b):
    return f"({f'v{a}' if a >= 0 else '0'} - {f'v{b}' if b >= 0 else '0'})"


def net(rng):
    """Makes a random net; returns its text, the amplitude of its source, and its nodes."""
    nodes = range(1, rng.randint(2, 5) + 1)
    period, amplitude, resistance = 10**rng.uniform(-4, 0), rng.choice([1.0, 2.0, 5.0, 12.0]), 10**rng.uniform(1, 4)
    into = {k: [] for k in nodes}

    def connect(a, b, current):
        for node, sign in ((a, "-"), (b, "+")):
            if node > 0:
                into[node].append(f"{sign} {current}")

    for k in nodes:
        connect(other := rng.randrange(k), k, f"{voltage(other, k)}/{resistance * 10**rng.uniform(-1, 1)!r}")
        if rng.random() < 0.7:
            connect(k, GROUND, f"v{k}/{resistance * 10**rng.uniform(0, 2)!r}")
    diodes = [(a, b) for a, b in (rng.sample([GROUND, SOURCE, *nodes], 2) for _ in range(rng.randint(1, 4))) if max(a, b) > 0]
    equations = [f"v0 = {amplitude!r}*sin({2 * math.pi / period!r}*time);"]
    for d, (a, b) in enumerate(diodes):
        drop = rng.choice([0, 10**rng.uniform(-2, 1)])
        equations.append(f"i{d} = {10**rng.uniform(-14, -8)!r}*(exp(({voltage(a, b)} - {drop!r}*i{d})/{rng.choice([0.0259, 0.035, 0.05])!r}) - 1);")
        connect(a, b, f"i{d}")
    storing = [k for k in nodes if rng.random() < 0.6] or [nodes[-1]]
    for k in nodes:
        left = f"{period * 10**rng.uniform(-1.5, 1) / resistance!r}*der(v{k})" if k in storing else "0"
        equations.append(f"{left} = {' '.join(into[k])};")
    declared = ["v0", *(f"i{d}" for d in range(len(diodes))), *(f"v{k}(start = 0{', fixed = true' if k in storing else ''})" for k in nodes)]
    lines = "\n  ".join(equations)
    stop = period * rng.choice([1.3, 2.3, 4.3])
    return f"model Net\n  Real {', '.join(declared)};\nequation\n  {lines}\n  annotation(experiment(StopTime = {stop!r}));\nend Net;\n", amplitude, [f"v{k}" for k in nodes]


class DiodeNets(unittest.TestCase):
    def test_nets(self):
        tally = Tally("nets of diodes")
        for seed in seeds(300, quick=60):
            text, size, names = net(random.Random(seed))
            fine = simulate(text, solver="bdf", tolerance=1e-10, intervals=100)
            if fine.status:
                tally.add_refused(fine, seed, "reference")
                continue
            for tolerance in by_turns((1e-3, 1e-4, 1e-6, 1e-8), seed):
                for solver in by_turns(solver_names(), seed // 4):
                    run = simulate(text, solver=solver, tolerance=tolerance, intervals=100)
                    missed = max((abs(a - b) for name in names for a, b in zip(run.columns[name], fine.columns[name])), default=0) if run.status == 0 else 0
                    tally.add(run, lambda missed=missed, tolerance=tolerance: missed <= 100 * tolerance * size, seed, solver, tolerance, "missed by", missed, "of", size)
        tally.check(self, 0.05)


if __name__ == "__main__":
    unittest.main()
