"""About thirty mechanisms, planar and in space, with and without superfluous constraints, each by eight methods: all end with the values of the run without the superfluous constraints. Bars are distances of points, hinges in space are points and unit vectors."""
import math
import random
import unittest

import numpy

import runs
from test_redundant import METHODS, Mechanism, gradients
BOUND = 1e-6  # a hundred times the tolerance of the runs


def bar(p, q, length):
    """The distance of two points: names of coordinates, or numbers."""
    return " + ".join(f"({a} - ({b}))^2" for a, b in zip(p, q)) + f" = {length ** 2!r}"


def dot(p, q):
    return " + ".join(f"({a})*({b})" for a, b in zip(p, q))


def minus(p, q):
    return [f"({a}) - ({b})" for a, b in zip(p, q)]


def distance(p, q):
    return math.dist(p, q)


class Points:
    """Points with their places, in the plane or in space; `bars` takes the lengths of the bars from these places."""

    def __init__(self, **places):
        self.places = places

    def names(self, point):
        if point in self.places:
            return [f"{point}{axis}" for axis in "xyz"[:len(self.places[point])]]
        return self.ground[point]

    def coordinates(self, mass=1.0):
        return {name: (place, mass) for point, at in self.places.items() for name, place in zip(self.names(point), at)}

    ground = {}

    def on(self, **ground):
        self.ground = ground
        return self

    def place(self, point):
        return self.places.get(point) or self.ground[point]

    def bars(self, *pairs):
        return [bar(self.names(p), self.names(q), distance(self.place(p), self.place(q))) for p, q in (pair.split("-") for pair in pairs)]

    def heights(self, axis="y"):
        return [f"{point}{axis}" for point in self.places]


def chain(name, points, pairs, superfluous, fixed, stop=0.7):
    return Mechanism(name, points.coordinates(), points.bars(*pairs), superfluous, fixed, points.heights(), stop)


def four_bar(crank, coupler, rocker, base, angle):
    """The crank at an angle, the coupler's end where the circles meet."""
    a = (crank * math.cos(angle), crank * math.sin(angle))
    across = math.dist(a, (base, 0))
    along = (coupler ** 2 - rocker ** 2 + across ** 2) / 2 / across
    height = math.sqrt(coupler ** 2 - along ** 2)
    u = ((base - a[0]) / across, -a[1] / across)
    b = (a[0] + along * u[0] - height * u[1], a[1] + along * u[1] + height * u[0])
    return Points(a=a, b=b).on(o=(0, 0), p=(base, 0))


def planar_chains():
    """Closed chains of four to six bars, without superfluous constraints."""
    for lengths in ((0.5, 1.3, 1.1, 1.6), (0.8, 1.0, 1.4, 1.2)):
        yield chain(f"four bars {lengths}", four_bar(*lengths, 1.1), ["o-a", "a-b", "b-p"], [], ["ax"])
    five = Points(a=(-0.4, 0.9), b=(0.7, 1.6), c=(1.9, 0.8)).on(o=(0, 0), p=(1.5, 0))
    yield chain("five bars", five, ["o-a", "a-b", "b-c", "c-p"], [], ["ax", "cx"])
    six = Points(a=(0.3, 0.8), b=(1.4, 1.3), c=(1.0, 2.0), d=(2.6, 1.7)).on(o=(0, 0), p=(1.9, 0), q=(3.2, 0.3))
    yield chain("Stephenson's six bars", six, ["o-a", "a-b", "b-p", "a-c", "b-c", "c-d", "d-q"], [], ["ax"])
    yield chain("Watt's six bars", six.on(o=(0, 0), p=(1.9, 0), q=(3.2, 0.3)), ["o-a", "a-b", "b-p", "b-d", "p-d", "d-c", "a-c"], [], ["ax"])


def parallelograms():
    """Cranks of equal length side by side on one coupler, and stages of them one below the other."""
    for cranks, angle in ((3, -1.0), (4, -0.7), (5, -2.0)):
        u, v = math.cos(angle), math.sin(angle)
        points = Points(a=(u, v), b=(1.5 + u, v)).on(o=(0, 0), p=(1.5, 0))
        rows = []
        for k in range(1, cranks - 1):
            s = k / (cranks - 1)
            x, y = (f"({1 - s!r}*a{axis} + {s!r}*b{axis})" for axis in "xy")
            rows.append(bar((x, y), (1.5 * s, 0), 1))
        yield chain(f"coupler on {cranks} cranks", points, ["o-a", "a-b", "b-p"], rows, ["ax"])
    stages = Points(a=(0.6, -0.8), b=(1.6, -0.8), c=(0.2, -1.7), d=(1.2, -1.7)).on(o=(0, 0), p=(1, 0))
    thirds = [bar([f"(a{x} + b{x})/2" for x in "xy"], (0.5, 0), 1), bar([f"(c{x} + d{x})/2" for x in "xy"], [f"(a{x} + b{x})/2" for x in "xy"], distance((0.6, -0.8), (0.2, -1.7)))]
    yield chain("two stages of three cranks", stages, ["o-a", "a-b", "b-p", "a-c", "c-d", "d-b"], thirds, ["ax", "cx"])


def locomotive(wheels):
    """Wheels as angles. The rod between the first two has a separate angle; further wheels are constrained twice."""
    names = [f"p{k}" for k in range(wheels)]
    rows = [f"{name} - p0 = 0" for name in names[1:]]
    more = [f"0.3*sin({name}) - 0.3*sin(p0) = 0" for name in names[1:]]
    return Mechanism(f"locomotive of {wheels} wheels", {name: (0.4, 0.7 + 0.2 * k) for k, name in enumerate(names)}, rows, more, ["p0"], ["p0"])


def gears(count):
    """A gear train whose last gear meets the first: its ratio follows from the others."""
    radius = [0.5 + 0.25 * k for k in range(count)]
    rows = [f"{radius[k]}*g{k} + {radius[k + 1]}*g{k + 1} = 0" for k in range(count - 1)]
    sign = "-" if count % 2 else "+"
    return Mechanism(f"train of {count} gears", {f"g{k}": (0, radius[k]) for k in range(count)}, rows, [f"{radius[0]}*g0 {sign} {radius[-1]}*g{count - 1} = 0"], ["g0"],
                     ["g0"])


def trammel():
    """A bar with its ends on two lines: its middle moves on a circle."""
    return Mechanism("trammel", {"x": (0.6, 1.0), "y": (0.8, 1.0), "u": (0.3, 0.5), "v": (0.4, 0.5)}, ["x^2 + y^2 = 1", "u - x/2 = 0", "v - y/2 = 0"],
                     ["u^2 + v^2 = 0.25"], ["x"], ["y", "v"])


def peaucellier():
    """Seven bars guide a point along a line; an additional guide on the line repeats that constraint."""
    o, arm, rhombus, crank = (0.0, 0.0), 2.0, 1.0, 0.6
    angle = 0.35
    c = (crank + crank * math.cos(angle), crank * math.sin(angle))
    along = math.hypot(*c)
    direction = (c[0] / along, c[1] / along)
    power = arm ** 2 - rhombus ** 2
    d = tuple(power / along * v for v in direction)
    middle = (along + power / along) / 2
    height = math.sqrt(arm ** 2 - middle ** 2)
    a = (middle * direction[0] - height * direction[1], middle * direction[1] + height * direction[0])
    b = (middle * direction[0] + height * direction[1], middle * direction[1] - height * direction[0])
    points = Points(a=a, b=b, c=c, d=d).on(o=o, p=(crank, 0.0))
    return chain("Peaucellier's straight line", points, ["o-a", "o-b", "a-c", "c-b", "b-d", "d-a", "p-c"], [f"dx = {power / 2 / crank!r}"], ["cy"], 0.3)


def pantograph():
    """A parallelogram of bars whose corners are in line with the pole: the pen is twice as far as the pin."""
    points = Points(a=(-0.3, 0.9), b=(0.5, 0.7), c=(-0.6, 1.8), d=(0.2, 1.6), e=(1.0, 1.4)).on(o=(0, 0))
    rows = points.bars("o-a", "a-b", "c-d", "d-b") + [row for x in "xy" for row in (f"c{x} - 2*a{x} = 0", f"e{x} - 2*d{x} + c{x} = 0")]
    return Mechanism("pantograph", points.coordinates(), rows, ["ex - 2*bx = 0", "ey - 2*by = 0"], ["ax", "bx"], points.heights(), 0.3)


def scissors(stages):
    """A lift of crossed bars between a floor and guides: the crossings stay in line."""
    points, pairs, rows = {}, [], []
    half, rise = 0.8, 0.6
    for k in range(1, stages + 1):
        points |= {f"l{k}": (0.0, rise * k), f"r{k}": (half, rise * k)}
    all_points = Points(r0=(half, 0.0), **points).on(l0=(0.0, 0.0))
    for k in range(stages):
        pairs += [f"l{k}-r{k + 1}", f"r{k}-l{k + 1}"]
        middle = lambda p, q: [f"({a} + {b})/2" for a, b in zip(map(str, all_points.names(p)), map(str, all_points.names(q)))]
        rows += [f"{a} - {b} = 0" for a, b in zip(middle(f"l{k}", f"r{k + 1}"), middle(f"r{k}", f"l{k + 1}"))]
    guide = ["r0y = 0"]
    more = [f"l{k}x = 0" for k in range(1, stages + 1)]
    needed = all_points.bars(*pairs) + rows + guide
    return Mechanism(f"scissors of {stages} stages", all_points.coordinates(), needed, more, ["r0x"], all_points.heights(), 0.3)


def solve(rows, at):
    """Places near these that satisfy the constraints, by the Gauss-Newton method."""
    names, place = list(at), dict(at)
    mechanism = Mechanism("", {name: (0, 0) for name in names}, rows, [], [], [])
    for _ in range(60):
        values = numpy.array([eval("(%s) - (%s)" % tuple(row.replace("^", "**").split(" = ")), {**vars(math), **place}) for row in rows])
        step = numpy.linalg.lstsq(gradients(mechanism, rows, place), values, rcond=1e-7)[0]
        place = {name: place[name] - d for name, d in zip(names, step)}
    return place, abs(values).max()


def bennett():
    """Four skew hinges in space: by Bennett's condition they move, though three constraints repeat others."""
    a, b, alpha = 1.0, 0.8, 0.9
    beta = math.asin(b * math.sin(alpha) / a)
    p1, u1, p2, u2 = (0, 0, 0), (0, 0, 1), (a, 0, 0), (0, -math.sin(alpha), math.cos(alpha))
    names = {"p3": ["p3x", "p3y", "p3z"], "u3": ["u3x", "u3y", "u3z"], "p4": ["p4x", "p4y", "p4z"], "u4": ["u4x", "u4y", "u4z"]}

    def link(p, u, q, v, length, angle):
        return [bar(p, q, length), f"{dot(u, v)} = {math.cos(angle)!r}", f"{dot(u, minus(q, p))} = 0", f"{dot(v, minus(q, p))} = 0"]

    rows = link(p2, u2, names["p3"], names["u3"], b, beta) + link(names["p3"], names["u3"], names["p4"], names["u4"], a, alpha)
    rows += link(names["p4"], names["u4"], p1, u1, b, beta)
    rows += [f"{dot(names[u], names[u])} = 1" for u in ("u3", "u4")]
    flat = Mechanism("", {name: (0, 0) for each in names.values() for name in each}, rows, [], [], [])
    rng = random.Random(1)
    for _ in range(200):
        place, left = solve(rows, {name: rng.uniform(-1, 1) for name in flat.coordinates})
        at = gradients(flat, rows, place)
        if left < 1e-12 and numpy.linalg.matrix_rank(at, 1e-6) == 11:
            break
    else:
        raise AssertionError("no linkage that moves")
    chosen, rank = [], 0
    for k in range(len(rows)):
        if numpy.linalg.matrix_rank(at[chosen + [k]], 1e-6) > rank:
            chosen, rank = chosen + [k], rank + 1
    needed = [rows[k] for k in chosen]
    more = [rows[k] for k in range(len(rows)) if k not in chosen]
    return Mechanism("Bennett's linkage", {n: (v, 1.0) for n, v in place.items()}, needed, more, ["p4x"], ["p3z", "p4z"])


def table(rods):
    """A plate, given by three of its points, on parallel rods of length 1 that swing."""
    corners = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (1.0, 1.0)}
    points = Points(**{name: (u + 0.48, v + 0.36, -0.8) for name, (u, v) in corners.items()}).on(**{f"o{name}": (u, v, 0.0) for name, (u, v) in corners.items()})
    more = []
    for k in range(rods - 3):
        s, t = 0.3 + 0.2 * k, 0.7 - 0.3 * k
        at = [f"({1 - s - t!r}*b{x} + {s!r}*a{x} + {t!r}*c{x})" for x in "xyz"]
        foot = ((1 - s - t) * 1 + t * 1, t * 1.0, 0.0)
        more.append(bar(at, foot, 1))
    return Mechanism(f"plate on {rods} rods", points.coordinates(), points.bars("a-oa", "b-ob", "c-oc", "a-b", "b-c", "a-c"), more, ["ax", "ay", "bx"], points.heights("z"))


def quaternion_body(copies):
    """A ball-shaped body on a ball joint, by its quaternion: the arm of length 1 ends in the origin."""
    rows = ["q0^2 + q1^2 + q2^2 + q3^2 = 1", "x - 2*(q1*q3 + q0*q2) = 0", "y - 2*(q2*q3 - q0*q1) = 0", "z - (q0^2 - q1^2 - q2^2 + q3^2) = 0"]
    more = ["x^2 + y^2 + z^2 = 1", "sqrt(q0^2 + q1^2 + q2^2 + q3^2) = 1"][:copies]
    start = {"q0": 0.5, "q1": 0.5, "q2": -0.5, "q3": 0.5, "x": 0.0, "y": -1.0, "z": 0.0}
    return Mechanism(f"quaternions, {copies} superfluous", {name: (value, 1.6 if name[0] == "q" else 1.0) for name, value in start.items()}, rows, more,
                     ["q1", "q2", "q3"], ["z"])


def planar_in_space(more):
    """Five bars between points in space, each held in the plane z = 0. Combinations of these constraints are superfluous."""
    points = Points(a=(-0.4, 0.9, 0.0), b=(0.7, 1.6, 0.0), c=(1.9, 0.8, 0.0)).on(o=(0, 0, 0), p=(1.5, 0, 0))
    rows = points.bars("o-a", "a-b", "b-c", "c-p") + ["az = 0", "bz = 0", "cz = 0"]
    return Mechanism(f"five bars in space, {more} superfluous", points.coordinates(), rows, ["az - bz = 0", "bz + 2*cz = 0", "az + bz + cz = 0"][:more], ["ax", "cx"],
                     points.heights())


def slider_crank():
    """The slider on two pads of one guide."""
    return Mechanism("slider on two pads", {"x": (0.4, 1.0), "y": (0.3, 1.0), "s": (1.4, 2.0), "h": (0, 2.0), "p": (0, 0.3)},
                     ["x^2 + y^2 = 0.25", "(s - x)^2 + (h - y)^2 = 1.09", "h + 0.2*sin(p) = 0", "h - 0.2*sin(p) = 0"], ["h = 0", "p = 0"], ["x"], ["y"])


def mechanisms():
    yield from planar_chains()
    yield from parallelograms()
    yield from (locomotive(wheels) for wheels in (3, 5))
    yield from (gears(count) for count in (3, 4, 6))
    yield trammel()
    yield peaucellier()
    yield pantograph()
    yield from (scissors(stages) for stages in (1, 2, 3))
    yield bennett()
    yield from (table(rods) for rods in (4, 5))
    yield from (quaternion_body(copies) for copies in (0, 1, 2))
    yield from (planar_in_space(more) for more in (1, 2, 3))
    yield slider_crank()
    yield Mechanism("two pendulums on one circle", {"x": (0.6, 1.0), "y": (-0.8, 1.0), "u": (-0.6, 1.0), "v": (-0.8, 1.0)},
                    ["x^2 + y^2 = 1", "u + x = 0", "v - y = 0"], ["u^2 + v^2 = 1"], ["x"], ["y", "v"])


class Mechanisms(unittest.TestCase):
    def compare(self, mechanism, method, reference):
        constraints = mechanism.needed + mechanism.superfluous
        run = runs.simulate(mechanism.text(constraints), method=method)
        if run.status:
            self.tally.add_refused(run, mechanism.name, method)
            return
        distance = max(abs(run.end(name) - reference.end(name)) for name in mechanism.coordinates)
        if distance < BOUND: self.tally.add_right()
        else: self.tally.add_wrong(mechanism.name, method, f"{distance:.2g}")

    def test_all(self):
        self.tally = runs.Tally("mechanisms")
        for turn, mechanism in enumerate(mechanisms()):
            reference = runs.simulate(mechanism.text(mechanism.needed))
            self.assertEqual(reference.status, 0, f"{mechanism.name}: {reference.words}")
            for method in sorted({*(["dummy"] if mechanism.superfluous else []), *runs.by_turns(METHODS, turn)}):
                self.compare(mechanism, method, reference)
        self.tally.check(self)


if __name__ == "__main__":
    unittest.main()
