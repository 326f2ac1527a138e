"""The watch for singular points on generated mechanisms and circuits, compared with closed forms.

Four-bar linkages driven at the crank: if coupler and rocker become collinear, the run must stop at that time, to 1e-6. If they only come close to that (down to a thousandth of the lengths),
the run must pass, on its branch. Charges with nested conditions: a capacitance is
zero in most modes, but not in those that hold.

Wide runs: see runs.py."""
import math
import random
import re
import unittest

from runs import Tally, by_turns, seeds, simulate, solver_names

STOP = 6
CASES = [(states, solver) for solver in ("auto", "radau") for states in (True, False)]  # of linkages


class FourBar:
    """Crank a, coupler b, rocker c, ground d. r, from the end of the crank to the rocker's pivot, runs from d - a to d + a; b + c
    must not be smaller. With an even seed it is slightly larger, with an odd one smaller."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.speed = rng.choice([0.5, 1, 2, 5])
        self.phase, self.singular = rng.uniform(-0.5, 0.5), None
        while True:
            self.a, self.c, self.d = round(rng.uniform(0.3, 1), 3), round(rng.uniform(1, 3), 3), round(rng.uniform(1.2, 3), 3)
            self.b = round(self.d + self.a - self.c + rng.choice([0.3, 0.1, 0.03, 0.01, 0.003]), 4)
            if seed % 2:
                self.phase, self.b = 0, round(rng.uniform(1, 3), 3)
                cosine = (self.a**2 + self.d**2 - (self.b + self.c)**2) / (2 * self.a * self.d)
                if not -0.95 < cosine < 0.8:
                    continue
                self.singular = math.acos(cosine) / self.speed
            if self.b > 0.2 and abs(self.b - self.c) + 0.05 < self.d - self.a and (self.singular or 1) < STOP - 0.05:
                return

    def angles(self, t):
        p = self.phase + self.speed * t
        x, y = self.a * math.cos(p), self.a * math.sin(p)
        r = math.hypot(self.d - x, y)
        th = math.atan2(-y, self.d - x) + math.acos((self.b**2 + r**2 - self.c**2) / (2 * self.b * r))
        return th, math.atan2(y + self.b * math.sin(th), x + self.b * math.cos(th) - self.d)

    def text(self, states):
        th, ps = self.angles(0)
        extra = ("  Real e(start = 0, fixed = true);\n", "  der(e) = cos(th) - 0.1*e;\n") if states else ("", "")
        return (f"model FourBar\n  Real p, th(start = {th!r}), ps(start = {ps!r});\n{extra[0]}equation\n"
                f"  p = {self.phase!r} + {self.speed}*time;\n  {self.a}*cos(p) + {self.b}*cos(th) = {self.d} + {self.c}*cos(ps);\n"
                f"  {self.a}*sin(p) + {self.b}*sin(th) = {self.c}*sin(ps);\n{extra[1]}"
                f"  annotation(experiment(StopTime = {STOP}));\nend FourBar;\n")


class Linkages(unittest.TestCase):
    def is_right(self, bar, run):
        """At a singular point the run must stop; elsewhere it must not report one, and must end where the closed form does."""
        if bar.singular:
            return run.status == 6 and abs(run.report["singular"]["time"] - bar.singular) < 1e-6 * max(1, bar.singular)
        if run.status == 0:
            return abs(math.sin((run.end("th") - bar.angles(STOP)[0]) / 2)) < 1e-4
        return "singular there" not in run.words

    def check(self, states, solver, may_refuse=0.0):
        tally = Tally(f"linkages with{'' if states else 'out'} states, {solver}")
        for seed in seeds(30):
            if (states, solver) not in by_turns(CASES, seed // 2): continue
            bar = FourBar(seed)
            run = simulate(bar.text(states), solver=solver, intervals=(10, 500)[seed // 8 % 2])
            if not self.is_right(bar, run):
                tally.add_wrong(seed, run.words)
            elif run.status and not bar.singular:
                tally.add_refused(run, seed)
            else:
                tally.add_right()
        tally.check(self, may_refuse)

    def test_with_states(self):
        for solver in ("auto", "radau"):
            self.check(True, solver)

    def test_without_states(self):
        """Without states no error is controlled: the explicit method gives up on a few members, but no result is wrong."""
        self.check(False, "radau")
        self.check(False, "auto", 0.1)


class Parallelograms(unittest.TestCase):
    """Two masses on cranks of equal length and a coupler as long as the base, without forces: they turn at a constant speed. If all points are in line, the linkage may become an antiparallelogram. Every method and solver that watches must stop there. With a
    slightly longer coupler nothing is singular."""

    def text(self, crank, base, coupler, angle, speed):
        x, y = crank * math.cos(angle), crank * math.sin(angle)
        return (f"model M\n Real x1(start={x!r}), y1(start={y!r}, fixed=true), x2(start={base + x!r}), y2(start={y!r}), vx1, vy1(\n"
                f"  start={-speed * x!r}, fixed=true), vx2, vy2(start={-speed * x!r}), l1, l2, l3;\nequation\n"
                f" der(x1) = vx1; der(y1) = vy1; der(x2) = vx2; der(y2) = vy2;\n"
                f" der(vx1) = -x1*l1 - (x1 - x2)*l2; der(vy1) = -y1*l1 - (y1 - y2)*l2;\n"
                f" der(vx2) = -(x2 - {base!r})*l3 + (x1 - x2)*l2; der(vy2) = -y2*l3 + (y1 - y2)*l2;\n"
                f" x1^2 + y1^2 = {crank**2!r}; (x1 - x2)^2 + (y1 - y2)^2 = {coupler**2!r};\n"
                f" (x2 - {base!r})^2 + y2^2 = {crank**2!r};\nend M;\n")

    def test_methods_and_solvers(self):
        for seed in (0, 1):
            rng = random.Random(seed)
            crank, base, angle, speed = rng.uniform(0.5, 2), rng.uniform(2.2, 4), rng.uniform(0.5, 1.5), rng.uniform(0.5, 2)
            for method in ("dummy", "underlying", "projection", "baumgarte"):
                for solver in (name for name in ("erk", "radau", "bdf", "cvode") if name in solver_names()):
                    options = {"stop_time": 3, "method": method, "solver": solver}
                    with self.subTest(seed=seed, method=method, solver=solver):
                        run = simulate(self.text(crank, base, base, angle, speed), **options)
                        self.assertEqual(run.status, 6, run.words)
                        self.assertAlmostEqual(run.report["singular"]["time"], angle / speed, delta=1e-5)
                        run = simulate(self.text(crank, base, 1.05 * base, angle, speed), **options)
                        self.assertEqual(run.status, 0, run.words)

    def test_loose(self):
        """Errors of the run hide the flat position at loose tolerances."""
        tally = Tally("flat linkages at loose tolerances")
        for seed in [*seeds(12, quick=3), 2008, 2013]:
            rng = random.Random(seed + 100)
            crank, base, angle, speed = rng.uniform(0.5, 2), rng.uniform(2.2, 4), rng.uniform(0.5, 1.5), rng.uniform(0.5, 2)
            for solver in (name for name in ("erk", "radau", "bdf", "cvode") if name in solver_names()):
                run = simulate(self.text(crank, base, base, angle, speed), stop_time=3, solver=solver, tolerance=1e-4)
                (tally.add_right if run.status == 6 else lambda: tally.add_wrong(seed, solver, run.status, run.words[:150]))()
        tally.check(self)


class Charges(unittest.TestCase):
    """Nonlinear capacitors after resistors; their charges are constant in all modes except the one that holds."""

    def text(self, rng, stages):
        text = "model Charges\n" + "".join(f"  Real v{s}(start = {2 + 0.1 * s}, fixed = true), q{s}, i{s};\n" for s in range(stages)) + "equation\n"
        for s in range(stages):
            cuts = sorted(rng.uniform(-3, 0.5) for _ in range(rng.randint(2, 6)))
            regions = " elseif ".join(f"v{s} < {cut:.3f} then {rng.choice([0, 0, 1, -2])}" for cut in cuts)
            text += f"  q{s} = if {regions} elseif v{s} < 9 then v{s} + 0.1*v{s}^2 else 0;\n  der(q{s}) = i{s};\n"
            text += f"  i{s} = {'3 + sin(time)' if s == 0 else f'v{s - 1}'} - v{s};\n"
        return text + "  annotation(experiment(StopTime = 2, Tolerance = 1e-8));\nend Charges;\n"

    def reference(self, stages):
        def rates(t, v):
            return [((3 + math.sin(t) if s == 0 else v[s - 1]) - v[s]) / (1 + 0.2 * v[s]) for s in range(stages)]

        n, v = 2000, [2 + 0.1 * s for s in range(stages)]
        h = 2 / n
        for k in range(n):
            a = rates(k * h, v)
            b = rates(k * h + h / 2, [x + h / 2 * y for x, y in zip(v, a)])
            c = rates(k * h + h / 2, [x + h / 2 * y for x, y in zip(v, b)])
            d = rates(k * h + h, [x + h * y for x, y in zip(v, c)])
            v = [x + h / 6 * (p + 2 * q + 2 * r + w) for x, p, q, r, w in zip(v, a, b, c, d)]
        return v

    def test_family(self):
        reference, tally = {stages: self.reference(stages) for stages in (1, 2, 3)}, Tally("charges")
        for seed in seeds(30):
            rng = random.Random(seed)
            stages = rng.randint(1, 3)
            run = simulate(self.text(rng, stages), intervals=4)
            tally.add(run, lambda: all(abs(run.end(f"v{s}") - value) < 1e-5 for s, value in enumerate(reference[stages])), seed)
        tally.check(self)


class Decades(unittest.TestCase):
    """Junctions in series, with charges a*exp(v/w) + c*v. Their capacitances fall by many decades, rise again, and are never zero.
    The current is given, so the voltages follow from the charge."""

    def voltage(self, charge, a, w, c):
        low, high = min(charge / c, 0) - 1, 1 + w * math.log(1 + abs(charge) / a)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if a * math.exp(middle / w) + c * middle < charge else (low, middle)
        return low

    def text(self, junctions, turns):
        text, equations = "model Decades\n", ""
        for k, (a, w, c) in enumerate(junctions):
            start = sum(self.voltage(0.5, *junction) for junction in junctions[k:])
            across, rate = (f"v{k} - v{k + 1}", f"(der(v{k}) - der(v{k + 1}))") if k + 1 < len(junctions) else (f"v{k}", f"der(v{k})")
            text += f"  Real v{k}(start = {start!r}, fixed = true);\n"
            equations += f"  ({a / w!r}*exp(({across})/{w!r}) + {c!r})*{rate} = {2 * math.pi * turns!r}*cos({2 * math.pi * turns!r}*time) - 1;\n"
        return text + "equation\n" + equations + "  annotation(experiment(StopTime = 1, Tolerance = 1e-7));\nend Decades;\n"

    def test_family(self):
        tally = Tally("capacitances that fall by decades")
        for seed in seeds(40):
            rng = random.Random(seed)
            junctions = [(math.exp(-rng.uniform(2, 20)), rng.uniform(0.025, 0.3), 10 ** -rng.uniform(0, 4)) for _ in range(rng.randint(1, 3))]
            run = simulate(self.text(junctions, rng.randint(1, 4)), solver=("auto", "radau", "bdf")[seed % 3], intervals=10)
            right = sum(self.voltage(-0.5, *junction) for junction in junctions)
            tally.add(run, lambda: not run.words and abs(run.end("v0") - right) < 1e-3 * (1 + abs(right)), seed, run.words)
        tally.check(self)


class Collapses(unittest.TestCase):
    """A volume whose pressure draws it together collapses at a known time. Beyond it there is no solution, although p*V = c has one for
    every V except 0, and a condition on the pressure changes there, too."""

    def test_family(self):
        tally = Tally("collapsing volumes")
        for seed in seeds(90, 18):
            rng = random.Random(seed)
            a, c, start = rng.uniform(0.1, 1), rng.uniform(0.5, 20), rng.uniform(0.5, 3)
            form = rng.randrange(3)
            power = (0.5, 0.5, 1)[form]
            rate = ("sign(p - 1e-3)*sqrt(abs(p))", "if p > 0 then sqrt(p) else -sqrt(-p)", "p")[form]
            end = start**(power + 1) / ((power + 1) * a * c**power)
            solver = by_turns(solver_names(), seed)[0]
            text = (f"model Collapse\n  Real p, V(start = {start!r}, fixed = true), q;\nequation\n  q = {rate};\n"
                    f"  der(V) = -{a!r}*q;\n  p*V = {c!r};\nend Collapse;\n")
            run = simulate(text, solver=solver, stop_time=end * rng.uniform(1.5, 20), tolerance=rng.choice((1e-5, 1e-6, 1e-7)))
            stopped = re.search(r"at time ([\d.e+-]*\d)", run.words)
            if run.status == 6 and stopped and abs(float(stopped[1]) - end) < 1e-3 * end:
                tally.add_right()
            else:
                tally.add_wrong(seed, solver, run.status, end, run.words)
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
