"""spatialDistribution: a network, and generated flows against the method of characteristics. Closed forms are in cases/transport.

DAEDAL_TRANSPORT_MODELS sets the number of models, 40 by default."""
import math
import os
import random
import unittest

from test_delay import SOLVERS, Run

TURNING = [s for s in SOLVERS if s != "ida"]  # without ida, whose error test includes outputs that begin like a square root
COUNT = int(os.environ.get("DAEDAL_TRANSPORT_MODELS", "10" if os.environ.get("BUILD_KIND") == "asan" else "40"))


def line(points, values, y):
    """The value at y of straight lines between points."""
    for (a, u), (b, v) in zip(zip(points, values), zip(points[1:], values[1:])):
        if a < b and y <= b:
            return u + (v - u) * (y - a) / (b - a)
    return values[-1]


def came_from(x, t, end):
    """The origin of the content at an end of the pipe at t: (end, time) if it entered after the start, otherwise (None, place at
    the start)."""
    now, step, high = x(t), 5e-3, t
    while high > 0:
        low = max(0.0, high - step)
        place = end + x(low) - now
        wall = 0 if place < 0 else 1 if place > 1 else None
        if wall is not None and (high < t or wall != end):
            for _ in range(50):
                middle = (low + high) / 2
                if (end + x(middle) - now - wall) * (1 if wall else -1) > 0:
                    low = middle
                else:
                    high = middle
            return wall, low
        high = low
    return None, end + x(0) - now


def outlet(x, inflow, points, values, t, end):
    wall, where = came_from(x, t, end)
    return line(points, values, where) if wall is None else inflow[wall](where)


class Closed(unittest.TestCase):
    def agree(self, run, name, value, tolerance, breaks=()):
        self.assertEqual(run.code, 0, run.words)
        for row in run.rows:
            if all(abs(row["time"] - t) > 1e-4 for t in breaks):
                self.assertAlmostEqual(row[name], value(row["time"]), delta=tolerance, msg=f"{name} at {row['time']} by {run.json['solver']} after {run.json['method']}")

    def test_network(self):
        """Pipes of different length, a jump that arrives with another event, and one that turns back before it leaves the pipe."""
        with open(os.path.join(os.environ["SOURCE_DIR"], "examples", "events", "heat_network.mo")) as file:
            text = file.read()

        def source(t):
            return 80 if 0 <= t < 2 else 20

        def house(t):
            return (source(t - 1) + source(t - 2)) / 2 if t < 3 else 40

        def back(t):
            return source(t) if t < 3 else sum(source(6 - t) if t < 3 + length else 40 for length in (1, 2)) / 2

        for solver in SOLVERS:
            run = Run(text, 6.0, "--solver", solver, "--intervals", "48")
            self.agree(run, "T_house", house, 1e-9, range(7))
            self.agree(run, "T_return", back, 1e-9, range(7))


class Drawn(unittest.TestCase):
    def test_random_flows(self):
        """Flows that reverse, smooth inflow at both ends, contents with corners and jumps: the outflow, and its integral."""
        for seed in range(COUNT):
            draw = random.Random(seed)
            amplitude, rate, drift = draw.uniform(0.2, 1.5), draw.uniform(0.7, 3), draw.uniform(-0.4, 0.4)
            phase, offset = draw.uniform(0, 6), draw.uniform(-3, 3)
            w = [draw.uniform(0.5, 4) for _ in range(2)]
            inner = sorted(draw.uniform(0.1, 0.9) for _ in range(draw.randint(0, 3)))
            points = [0.0] + sorted(inner + inner[:1]) + [1.0]
            values = [draw.uniform(-1, 1) for _ in points]

            def x(t):
                return offset + amplitude * math.sin(rate * t + phase) + drift * t

            def velocity(t):
                return amplitude * rate * math.cos(rate * t + phase) + drift

            inflow = [lambda t: 1 + math.sin(w[0] * t), lambda t: math.cos(w[1] * t) - 1]
            text = f"""model M Real x(start={x(0)!r}, fixed=true), a, b, v; equation der(x) = v;
 v = {amplitude * rate!r}*cos({rate!r}*time + {phase!r}) + ({drift!r});
 (a, b) = spatialDistribution(1 + sin({w[0]!r}*time), cos({w[1]!r}*time) - 1, x, v >= 0,
  {{{", ".join(map(repr, points))}}}, {{{", ".join(map(repr, values))}}}); end M;"""
            solver = TURNING[seed % len(TURNING)]
            run = Run(text, 5.0, "--solver", solver, "--tolerance", "1e-8", "--intervals", "23", "--no-event-rows")
            self.assertEqual(run.code, 0, f"seed {seed}: {run.words}")
            for row in run.rows:
                t = row["time"]
                if abs(velocity(t)) < 0.1:
                    continue
                out = "a" if velocity(t) < 0 else "b"
                near = [outlet(x, inflow, points, values, s, int(out == "b")) for s in (t - 1e-4, t, t + 1e-4) if s >= 0]
                if max(near) - min(near) > 2e-3 or t == 0:
                    continue
                allowed = 1e-3 if solver in ("bdf", "cvode") else 2e-4
                self.assertAlmostEqual(row[out], near[-2], delta=allowed, msg=f"seed {seed}, {solver}, {out} at {t}: {text}")
                other = "b" if out == "a" else "a"
                self.assertAlmostEqual(row[other], inflow[other == "b"](t), delta=1e-9)


if __name__ == "__main__":
    unittest.main()
