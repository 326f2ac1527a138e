"""spatialDistribution: closed forms and the method of characteristics, with every solver and method that carries it.

DAEDAL_TRANSPORT_MODELS widens the property test: so many models are drawn, 40 without it.
"""
import math
import os
import random
import subprocess
import tempfile
import unittest

from test_delay import DAEDAL, METHODS, SOLVERS, Run

WORK = tempfile.mkdtemp()
TURNING = [s for s in SOLVERS if s != "ida"]  # whose error test has outputs that begin like a square root
COUNT = int(os.environ.get("DAEDAL_TRANSPORT_MODELS", "10" if os.environ.get("BUILD_KIND") == "asan" else "40"))


def line(points, values, y):
    """The value at y of straight lines between points."""
    for (a, u), (b, v) in zip(zip(points, values), zip(points[1:], values[1:])):
        if a < b and y <= b:
            return u + (v - u) * (y - a) / (b - a)
    return values[-1]


def came_from(x, t, end):
    """Where what is at an end of the pipe at t came from: (end, time) if it entered behind the start, else (None, place at the start)."""
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

    def test_constant_velocity(self):
        """A delay by 1/v, at either end, in equations of every index."""
        text = """model M Real x(start=0.3, fixed=true), a, b, c, d; parameter Real v = 0.5; equation
 der(x) = v; (a, b) = spatialDistribution(sin(3*time), 7, x, v >= 0);
 (c, d) = spatialDistribution(7, sin(3*time), -x, not v >= 0); end M;"""

        def late(t):
            return math.sin(3 * (t - 2)) if t > 2 else 0

        for options in [("--solver", s) for s in SOLVERS] + [("--method", m) for m in METHODS] + [("--compile",)]:
            run = Run(text, 6.0, "--intervals", "30", *options)
            for name, value in (("a", lambda t: math.sin(3 * t)), ("b", late), ("c", late), ("d", lambda t: math.sin(3 * t))):
                self.agree(run, name, value, 1e-4)

    def test_jump(self):
        """A jump comes out as one, at an event; the integral of what comes out is exact on both sides."""
        text = """model M Real x(start=0, fixed=true), u, b, y(start=0, fixed=true), a; equation
 der(x) = 1 + 0.5*sin(time); u = if time < 0.7 then 1 else -2; (a, b) = spatialDistribution(u, 0, x, true); der(y) = b; end M;"""
        place = lambda t: t + 0.5 * (1 - math.cos(t))
        low, high = 0.0, 5.0

        def arrival(entered):
            low, high = entered, entered + 5
            for _ in range(80):
                middle = (low + high) / 2
                low, high = (middle, high) if place(middle) < place(entered) + 1 else (low, middle)
            return low

        first, second = arrival(0), arrival(0.7)
        for solver in SOLVERS:
            run = Run(text, 4.0, "--solver", solver, "--intervals", "40", "--tolerance", "1e-7")
            self.agree(run, "b", lambda t: 0 if t < first else 1 if t < second else -2, 1e-9, (first, second))
            self.agree(run, "y", lambda t: max(0, min(t, second) - first) - 2 * max(0, t - second), 1e-5)
            self.assertEqual(run.json["state_events"], 2, solver)

    def test_initial_contents(self):
        """What is in the pipe at the start leaves it: lines, a jump inside, points by parameters, only the values given."""
        points, values = [0, 0.25, 0.25, 1], [1, 2, 4, 3]
        text = """model M parameter Real p = 0.25; Real x(start=5, fixed=true), a, b, c, d; equation der(x) = -0.5;
 (a, b) = spatialDistribution(0, 9, x, false, {0, p, p, 1}, initialValues = {1, 2, 4, 3});
 (c, d) = spatialDistribution(0, 9, -x, true, initialValues = {1, 2}, initialPoints = {0, 1}); end M;"""
        run = Run(text, 3.0, "--intervals", "30")
        self.agree(run, "a", lambda t: line(points, values, t / 2) if t < 2 else 9, 1e-7, (0.5, 2))
        self.agree(run, "b", lambda t: 9, 0)
        self.agree(run, "d", lambda t: line([0, 1], [1, 2], 1 - t / 2) if t < 2 else 0, 1e-7, (2,))

    def test_closed_loop(self):
        """A pipe bent to a ring keeps what it contains: sums over rounds stay."""
        text = """model M Real x(start=0, fixed=true), a, b, y(start=0, fixed=true); equation der(x) = 1 + 0.3*cos(time);
 (a, b) = spatialDistribution(b, a, x, true, {0, 0.2, 0.5, 0.5, 1}, {1, 3, 2, 0, 1}); der(y) = b*der(x); end M;"""
        points, values = [0, 0.2, 0.5, 0.5, 1], [1, 3, 2, 0, 1]
        for solver in ("erk", "radau", "bdf"):
            run = Run(text, 6.0, "--solver", solver, "--intervals", "60", "--tolerance", "1e-7")
            self.assertEqual(run.code, 0, run.words)
            for row in run.rows:
                y = -row["x"] % 1
                if min(abs(y - p) for p in points) > 1e-5:
                    self.assertAlmostEqual(row["b"], line(points, values, y), delta=1e-5, msg=f"{solver} at {row['time']}")

    def test_network(self):
        """Pipes of different length, a jump that arrives with another event, and one that turns back before it has come out."""
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

    def test_restructured(self):
        """What is in pipes and delays stays when the equations become others."""
        text = """model M Real w1(start=10, fixed=true), w2(start=0, fixed=true), torque, s, l, x(start=0, fixed=true), a, b; equation
 s = sin(time); l = delay(s, 0.4 + 0*w1, 1); der(x) = 1; (a, b) = spatialDistribution(s, 0, x, true);
 der(w1) = 1 - torque; 3*der(w2) = torque; 0 = if time >= 1.5 then w1 - w2 else torque; end M;"""
        for method in ("dummy", "minimal", "none"):
            run = Run(text, 4.0, "--method", method, "--intervals", "16")
            self.assertEqual(run.json["replans"], 1)
            self.agree(run, "l", lambda t: math.sin(max(0, t - 0.4)), 1e-6)
            self.agree(run, "b", lambda t: math.sin(max(0, t - 1)), 1e-6)

    def test_still(self):
        """No flow: the ends stay as they are; then what stood still goes on."""
        text = """model M Real x(start=0, fixed=true), v, a, b; equation v = if time < 1 then 1 elseif time < 2 then 0 else 1;
 der(x) = v; (a, b) = spatialDistribution(time, 0, x, v >= 0); end M;"""
        for solver in ("erk", "radau", "bdf"):
            run = Run(text, 4.0, "--solver", solver, "--intervals", "40", "--tolerance", "1e-7")
            self.agree(run, "b", lambda t: 0 if t < 2 else t - 2 if t < 2 else t - 2 if t < 2 else
                       (t - 2 if t < 3 else t - 1), 1e-6, (1, 2, 3))

    def test_fast(self):
        """A velocity that grows within steps: none passes the whole pipe."""
        text = """model M Real x, a, b; equation x = time^3; (a, b) = spatialDistribution(x, 0, x, true); end M;"""
        for solver in ("erk", "radau", "bdf"):
            run = Run(text, 5.0, "--solver", solver, "--intervals", "20")
            self.agree(run, "b", lambda t: max(0, t ** 3 - 1), 1e-6)

    def test_differentiated(self):
        """A constraint with what comes out is differentiated along the pipe."""
        text = """model M Real x(start=0, fixed=true), y, f, a, b; equation der(x) = 2; der(y) = f; y = b;
 (a, b) = spatialDistribution(sin(time), 0, x, true, {0, 1}, {0, -0.5}); end M;"""
        for method in ("dummy", "minimal", "underlying"):
            run = Run(text, 3.0, "--method", method, "--tolerance", "1e-8")
            self.agree(run, "y", lambda t: -0.5 + t if t < 0.5 else math.sin(t - 0.5), 1e-6)
            self.agree(run, "f", lambda t: 1 if t < 0.5 else math.cos(t - 0.5), 1e-4, (0.5,))
        text = text.replace("y = b;", "y = der(spatialDistribution(0, sin(time), -x, false, {0, 0.5, 1}, {-0.5, -0.25, 0}));")
        run = Run(text, 3.0, "--tolerance", "1e-8")
        self.agree(run, "y", lambda t: 1 if t < 0.5 else math.cos(t - 0.5), 1e-5, (0.5,))

    def test_text(self):
        """flatten writes it so that it can be read again."""
        model = os.path.join(WORK, "t.mo")
        with open(model, "w") as file:
            file.write("model M Real x(start=0, fixed=true), a, b; equation der(x) = sin(time);\n"
                       "(a, b) = spatialDistribution(time, 2, x, der(x) > 0, {0, 0.3, 1}, {1, 2, 3}); end M;")
        first = subprocess.run([DAEDAL, "flatten", model], capture_output=True, text=True).stdout
        self.assertIn("spatialDistribution(time, 2, 'x', der('x') > 0, {0, 0.3, 1}, {1, 2, 3})", first)
        self.assertIn("spatialDistribution(2, time, -'x', not der('x') > 0, {0, 0.7, 1}, {3, 2, 1})", first)
        with open(model, "w") as file:
            file.write(first)
        self.assertEqual(subprocess.run([DAEDAL, "flatten", model], capture_output=True, text=True).stdout, first)

    def test_refusals(self):
        def model(call):
            return ("model M Real x(start=0, fixed=true), a, b; parameter Real p = 0.5; equation der(x) = 1;\n" +
                    call + "; end M;")
        for call, code, words in (
                ("(a, b) = spatialDistribution(1, 2, x)", 3, "expected 4"),
                ("(a, b) = spatialDistribution(1, 2, x, 3)", 3, "expected a Boolean"),
                ("(a, b) = spatialDistribution({1}, 2, x, true)", 3, "expected a scalar"),
                ("(a, b) = spatialDistribution(1, 2, x, true, 0, 1)", 3, "expected a vector"),
                ("(a, b) = spatialDistribution(1, 2, x, true, {0, 0.5, 1}, {0, 1})", 3, "3 elements, initialValues 2"),
                ("(a, b) = spatialDistribution(1, 2, x, true, {0, 0.5, 0.4, 1}, {0, 1, 2, 3})", 3, "ascend from 0 to 1"),
                ("(a, b) = spatialDistribution(1, 2, x, true, {0.1, 1}, {0, 1})", 3, "ascend from 0 to 1"),
                ("(a, b) = spatialDistribution(1, 2, x, true, {0, p}, {0, 1})", 5, "initialPoints does not ascend"),
                ("(a, b) = spatialDistribution(1, 2, x, true, {0, 1}, {0, x})", 3, "initialValues depends on variables"),
                ("(a, b) = spatialDistribution(1, 2, x, noEvent(x > 1))", 3, "without noEvent"),
                ("(a, b, x) = spatialDistribution(1, 2, x, true)", 3, "two outputs"),
                ("(a, b) = spatialDistribution(1, 2, if x > 0.5 then x + 3 else x, true)", 6, "x jumps by more than 1")):
            run = Run(model(call))
            self.assertEqual(run.code, code, call + run.words)
            self.assertIn(words, run.words)
            if code == 3:
                self.assertIn(":2:", run.words)
        pipe = model("(a, b) = spatialDistribution(1, 2, x, true)")
        self.assertIn("cannot carry spatialDistribution(", Run(pipe, 1.0, "--method", "overdetermined").words)


class Drawn(unittest.TestCase):
    def test_random_flows(self):
        """Flows that turn around, smooth inflow at both ends, contents with corners and jumps: what comes out, and its integral."""
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
