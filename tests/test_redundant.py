"""Constraints that follow from others: generated mechanisms with more constraints than they need. With every method, each mechanism runs as it would without the superfluous
constraints; multipliers have least norm, and the report names the superfluous constraints.
Constraints that contradict each other are refused by name."""
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

import runs

METHODS = ["dummy", "minimal", "projection", "baumgarte", "ggl", "underlying", "overdetermined", "strangeness"]


class Mechanism:
    """Coordinates with start values and masses, constraints that are needed and others that follow, each as text (fixed:
    coordinates held at the start)."""

    def __init__(self, name, coordinates, needed, superfluous, fixed, gravity, stop=0.7):
        self.stop = stop
        self.name, self.coordinates, self.needed, self.superfluous = name, coordinates, needed, superfluous
        self.fixed, self.gravity = fixed, gravity

    def text(self, constraints):
        declared = ", ".join(f"{q}(start = {start!r}{', fixed = true' if q in self.fixed else ''})" for q, (start, _) in self.coordinates.items())
        kinetic = " + ".join(f"{mass / 2!r}*der({q})^2" for q, (_, mass) in self.coordinates.items())
        potential = " + ".join(f"{9.81 * self.coordinates[q][1]!r}*{q}" for q in self.gravity)
        initial = "".join(f"  der({q}) = 0;\n" for q in self.fixed)
        rows = "".join(f"  {row};\n" for row in constraints)
        return (f"model M\n  Real {declared};\ninitial equation\n{initial}lagrangian\n  {kinetic} - ({potential});\nconstraint\n{rows}"
                f"annotation(experiment(StopTime = {self.stop}, Tolerance = 1e-8));\nend M;\n")


def plate(rods):
    """A plate that hangs on parallel rods of length 1 at the points a of its line."""
    points = [round(-0.7 + 1.4 * k / max(rods - 1, 1), 3) for k in range(rods)]
    rows = [f"(x + {a}*cos(phi) - ({a}))^2 + (y + {a}*sin(phi))^2 = 1" for a in points]
    return Mechanism(f"plate on {rods} rods", {"x": (0.6, 1.0), "y": (-0.8, 1.0), "phi": (0, 0.3)}, rows[:2], rows[2:], ["x"], ["y"])


def ladder(bays):
    """Bars of length 1 that hang side by side and are joined by couplers below and in the middle: the loops are parallelograms."""
    coordinates = {}
    for k in range(bays + 1):
        coordinates |= {f"x{k}": (k + 0.6, 1.0), f"y{k}": (-0.8, 1.0)}
    bars = [f"(x{k} - {k})^2 + y{k}^2 = 1" for k in range(bays + 1)]
    couplers = [f"(x{k + 1} - x{k})^2 + (y{k + 1} - y{k})^2 = 1" for k in range(bays)]
    middle = [f"(x{k + 1}/2 - x{k}/2 + 0.5)^2 + (y{k + 1} - y{k})^2/4 = 1" for k in range(bays)]
    return Mechanism(f"ladder of {bays} parallelograms", coordinates, bars + couplers, middle, ["x0"],
                     [f"y{k}" for k in range(bays + 1)])


def planar_in_space():
    """A four-bar linkage with points in space: each joint holds its own plane, and all planes are the same."""
    place = {"x1": 0.0, "y1": -1.0, "z1": 0.0, "x2": 2.0, "y2": -1.0, "z2": 0.0}
    rows = ["x1^2 + y1^2 + z1^2 = 1", "(x2 - x1)^2 + (y2 - y1)^2 + (z2 - z1)^2 = 4", "(x2 - 3)^2 + y2^2 + z2^2 = 2", "z1 = 0", "z2 = 0"]
    return Mechanism("planar linkage in space", {q: (v, 1.0) for q, v in place.items()}, rows, ["z1 - z2 = 0", "2*z2 + z1 = 0"], ["x1"],
                     ["y1", "y2"])


def table():
    """A square plate, given by three of its corners, on four parallel rods; it swings without turning."""
    corners = {"a": (0, 0), "b": (1, 0), "c": (1, 1)}
    coordinates = {}
    for name, (u, v) in corners.items():
        coordinates |= {f"{name}x": (u + 0.48, 1.0), f"{name}y": (v + 0.36, 1.0), f"{name}z": (-0.8, 1.0)}
    rods = [f"({name}x - {u})^2 + ({name}y - {v})^2 + {name}z^2 = 1" for name, (u, v) in corners.items()]
    sides = [f"({p}x - {q}x)^2 + ({p}y - {q}y)^2 + ({p}z - {q}z)^2 = {length}" for p, q, length in (("a", "b", 1), ("b", "c", 1), ("a", "c", 2))]
    fourth = "(ax - bx + cx)^2 + (ay - by + cy - 1)^2 + (az - bz + cz)^2 = 1"
    return Mechanism("plate on four rods in space", coordinates, rods + sides, [fourth], ["ax", "ay", "bx"], ["az", "bz", "cz"])


COPIES = {"a copy": "x^2 + y^2 = 1", "a multiple": "3*x^2 + 3*y^2 = 3", "a root": "sqrt(x^2 + y^2) = 1", "a square": "(x^2 + y^2)^2 = 1",
          "a product": "(x^2 + y^2 - 1)*(2 + x) = 0", "an angle": "cos(x^2 + y^2 - 1) + x^2 + y^2 = 2"}


def double_pendulum(superfluous):
    """Two rods, one below the other."""
    return Mechanism(" and ".join(superfluous), {"x": (0.6, 1.0), "y": (-0.8, 1.0), "u": (1.2, 1.0), "v": (-1.6, 1.0)},
                     ["x^2 + y^2 = 1", "(u - x)^2 + (v - y)^2 = 1"], superfluous, ["x", "u"], ["y", "v"])


SUMS = ["x^2 + y^2 + 2*(u - x)^2 + 2*(v - y)^2 = 3", "(x^2 + y^2)*((u - x)^2 + (v - y)^2) = 1", "exp(x^2 + y^2 - 1) - (u - x)^2 - (v - y)^2 = 0"]


def mechanisms():
    yield from (plate(rods) for rods in (3, 4, 6))
    yield from (ladder(bays) for bays in (1, 2))
    yield planar_in_space()
    yield table()
    yield from (double_pendulum([row]) for row in COPIES.values())
    yield from (double_pendulum([row]) for row in SUMS)
    yield double_pendulum([COPIES["a multiple"], SUMS[0]])


def gradients(mechanism, constraints, at):
    """The derivatives of the constraints with respect to the coordinates, by differences."""
    names = list(mechanism.coordinates)

    def values(place):
        scope = {**vars(math), **place}
        return numpy.array([eval("(%s) - (%s)" % tuple(row.replace("^", "**").split(" = ")), scope) for row in constraints])

    step, columns = 1e-6, []
    for name in names:
        columns.append((values({**at, name: at[name] + step}) - values({**at, name: at[name] - step})) / 2 / step)
    return numpy.array(columns).T


def analyze(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.mo"
        path.write_text(text)
        done = subprocess.run([os.environ["DAEDAL"], "analyze", str(path), "--json"], capture_output=True, text=True)
        checked = subprocess.run([os.environ["DAEDAL"], "check", str(path)], capture_output=True, text=True)
    assert done.returncode == checked.returncode, (done.stderr, checked.stderr)
    return json.loads(done.stdout)


class Redundant(unittest.TestCase):
    def compare(self, mechanism, method):
        constraints = mechanism.needed + mechanism.superfluous
        run = runs.simulate(mechanism.text(constraints), method=method)
        what = f"{mechanism.name}, {method}: {run.words}"
        if run.status:
            self.refused.append(what)
            return
        reference = runs.simulate(mechanism.text(mechanism.needed))
        self.assertEqual(reference.status, 0, reference.words)
        scale = 200 if method in ("baumgarte", "underlying", "strangeness") else 40
        for name in mechanism.coordinates:
            self.assertLess(abs(run.end(name) - reference.end(name)), scale * 1e-7, what)
        at = {name: run.end(name) for name in mechanism.coordinates}
        multipliers = numpy.array([run.end(f"lambda_{k + 1}") for k in range(len(constraints))])
        matrix = gradients(mechanism, constraints, at).T
        least = numpy.linalg.lstsq(matrix, matrix @ multipliers, rcond=1e-5)[0]
        self.assertLess(abs(least - multipliers).max(), 1e-4 * (1 + abs(multipliers).max()), what)
        if method != "strangeness":
            kinds = [each["kind"] for each in run.report["conversions"]]
            self.assertGreaterEqual(kinds.count("shared"), len(mechanism.superfluous), what)
            self.assertIn("follows from the other equations", run.words)

    def test_all(self):
        self.refused = []
        for turn, mechanism in enumerate(mechanisms()):
            for method in {"dummy", *runs.by_turns(METHODS, turn)}:
                with self.subTest(mechanism=mechanism.name, method=method):
                    self.compare(mechanism, method)
        self.assertFalse(self.refused)

    def test_large(self):
        """More constraints than dense matrices of the whole array would allow: they are examined by themselves, without the equations of motion."""
        self.refused = []
        for mechanism in (ladder(30), plate(40)):
            self.compare(mechanism, "dummy")
        self.assertFalse(self.refused)
        large = ladder(30)
        run = runs.simulate(large.text(large.needed + large.superfluous[:-1] + [large.superfluous[-1].replace("= 1", "= 1.3")]))
        self.assertIn(run.status, (4, 5), run.words)
        self.assertRegex(run.words, "no values were found that satisfy `[^`]* = 1.3`|together with `[^`]* = 1.3`")

    def test_events(self):
        """Constraints with values that change at events: rods that grow after a time, or when a coordinate has passed a value. There are few of them, or more than dense matrices of all
        equations would allow."""
        for bays, condition in ((2, "time < 0.3"), (3, "x0 > 0.55"), (120, "time < 0.3")):
            mechanism = ladder(bays)
            rows = [row.replace("= 1", f"= if {condition} then 1 else 1 + (time - 0.3)^4") if row in mechanism.needed[:bays + 1] else row
                    for row in mechanism.needed] if condition.startswith("time") else mechanism.needed
            text, needed = mechanism.text(rows + mechanism.superfluous), mechanism.text(rows)
            if not condition.startswith("time"):
                text, needed = (each.replace("x0)^2 + (y1", f"x0)^2*(if {condition} then 1 else 1.0) + (y1") for each in (text, needed))
            run, reference = runs.simulate(text), runs.simulate(needed)
            self.assertEqual((run.status, reference.status), (0, 0), run.words[-500:])
            self.assertEqual([each["kind"] for each in run.report["conversions"]].count("shared"), bays, condition)
            for name in mechanism.coordinates:
                self.assertAlmostEqual(run.end(name), reference.end(name), delta=4e-6, msg=(bays, condition, name))

    def test_analysis(self):
        """A mechanism that runs is also valid for analyze and check, with the index and the freedom of the mechanism without
        superfluous constraints; one that contradicts itself is not."""
        for mechanism in mechanisms():
            text = mechanism.text(mechanism.needed + mechanism.superfluous)
            found, plain = analyze(text), analyze(mechanism.text(mechanism.needed))
            self.assertEqual((found["status"], found["index_true"], found["dof_true"]), ("ok", plain["structural_index"], plain["dof"]), mechanism.name)
            self.assertGreaterEqual([each["kind"] for each in found["conversions"]].count("shared"), len(mechanism.superfluous), mechanism.name)
            self.assertFalse(found["regular"])
        wrong = plate(4)
        text = wrong.text(wrong.needed + wrong.superfluous[:1] + [wrong.superfluous[1].replace("= 1", "= 1.3")])
        self.assertEqual(analyze(text)["status"], "singular")

    def test_contradictions(self):
        for row in [*COPIES.values(), *SUMS]:
            left, right = row.split(" = ")
            wrong = f"{float(right) + 0.3:.10g}"
            mechanism = double_pendulum([f"{left} = {wrong}"])
            run = runs.simulate(mechanism.text(mechanism.needed + mechanism.superfluous))
            self.assertIn(run.status, (4, 5), run.words)
            self.assertRegex(run.words, rf"no values were found that satisfy|with the equation|contradict", run.words)
            self.assertRegex(run.words, rf"`[^`]* = {wrong}`|equation 7", run.words)

    def test_behind_conditions(self):
        """An unknown that occurs only in a branch that does not hold at the start, and one that two equations determine: the model is refused, or the run stops where the two no longer agree."""
        for condition in ("k > 0", "pre(k) > 0", "d", "not d", "s > 0.5", "pre(k) > 0 and d"):
            for branches in ("then b + c else 0", "then 0 else b*c", "then c else b"):
                for wrap in ("noEvent({})", "smooth(0, {})", "{}"):
                    y = wrap.format(f"if {condition} {branches}")
                    text = (f"model M\n  Real a, b, c, y; discrete Real s(start = 0); Integer k(start = 0); Boolean d(start = false);\nequation\n  a = s; a = 2*s; c = s; y = {y};\n"
                            "  when sample(0, 0.03) then s = pre(s) + 1; k = pre(k) + 1; d = not pre(d); end when;\nend M;\n")
                    self.assertIn(runs.simulate(text, stop_time=0.1).status, (4, 6), text)
                    self.assertIn(analyze(text)["status"], ("singular", "ok"), text)


class Free(unittest.TestCase):
    def test_free_variables(self):
        """Fewer equations than variables: the equations hold all the time. The free variables are named and stay nearest to their
        start values, also after a time at which the factor of one is zero."""
        for text, rows, free in (
                ("Real x(start = 1), y(start = 2); equation x + y = sin(time);", ["x + y - sin(time)", "x - y + 1"], "xy"),
                ("Real x(start = 0, fixed = true), a(start = 1), b(start = 0); equation der(x) = 1; (x - 1)*a + b = x;", ["(x - 1)*a + b - x", "(a - 1) - (x - 1)*b"], "ab")):
            run = runs.simulate(f"model M {text} annotation(experiment(StopTime = 2, Tolerance = 1e-8)); end M;", method="strangeness")
            self.assertEqual(run.status, 0, run.words)
            for name in free:
                self.assertIn(f"leave {name} free", run.words)
            self.assertNotIn("$", run.words)
            for k in range(0, len(run.columns["time"]), 20):
                scope = {name: values[k] for name, values in run.columns.items()}
                for row in rows:
                    self.assertAlmostEqual(eval(row, {"sin": math.sin}, scope), 0, delta=1e-5 * (1 + abs(scope["x"]) ** 2), msg=(row, scope))

    def test_nearest_is_not_unique(self):
        """x y = c(t) from (s, s). While c is below s^2/4, two points are nearest to (s, s), and the point between them is not.
        The run ends there with a message, unless c grows again before it reaches s^2/4."""
        for s in (0.5, 1, 3):
            for product, end in (("(1 - time)", 0.75), ("cos(time)", math.acos(0.25)), ("exp(-time)", math.log(4)), ("(0.65 + 0.35*cos(time))", None)):
                text = f"model M\n  Real x(start = {s}), y(start = {s});\nequation\n  x*y = {s * s}*{product};\nend M;\n"
                run = runs.simulate(text, method="strangeness", stop_time=2)
                self.assertNotIn("$", run.words)
                if end is None:
                    self.assertEqual(run.status, 0, run.words)
                    continue
                self.assertEqual(run.status, 6, text)
                self.assertIn("x*y = ", run.words)
                self.assertAlmostEqual(float(run.words.split("stopped at time ")[1].split(":")[0]), end, delta=1e-6, msg=text)


if __name__ == "__main__":
    unittest.main()
