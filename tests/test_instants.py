"""Singular instants: those that the solution passes, and those at which it ends or branches.

A member of the first kind is made of pieces whose Jacobian loses rank at one time, although the solution is unique. Some pieces are balances m*h = m*v where m
passes zero, with and without a jump of v there, in a chain or in a block with others. Other pieces are odd multiple roots, plain or regularized. Each member has a closed form. A member
of the second kind also has a piece at which the solution ends, turns back, branches, grows
without bound or depends on how it got there. Runs of the first kind continue and are right; those of the second stop with a message
at that time.

Wide runs: see runs.py."""
import math
import random
import re
import unittest

from runs import Tally, by_turns, seeds, simulate, solver_names

STOP = 2
NAMED = ("singular there", "come so close")


def flow(rng, k, at):
    """Declarations and equations of m, which passes zero at one time, and whether it rises."""
    declared, equations, slope = flow_of(rng, k, at, rng.choice([-1, 1]) * rng.choice([0.3, 1, 20]))
    return declared, equations, slope > 0


def flow_of(rng, k, at, slope):
    kind = rng.randrange(4)
    if kind == 0:
        return f"Real m{k};", f"m{k} = {slope}*(time - {at});", slope
    if kind == 1:
        return f"Real m{k}(start={-slope * at!r}, fixed=true);", f"der(m{k}) = {slope};", slope
    if kind == 2:
        return f"Real m{k}, p{k};", f"p{k} = {slope}*sin(time - {at}); m{k} = p{k} + 0.1*p{k}^3;", slope
    return f"Real m{k}, p{k};", f"p{k} + 0.2*p{k}^3 = {slope}*(time - {at}); m{k} = 2*p{k};", slope


class Piece:
    """A piece of a model with a state x and its value at the end, and the value of a column z at a time, if that is known."""

    def __init__(self, declared, equations, final, course=None):
        self.declared, self.equations, self.final, self.course = declared, equations, final, course

    def has_rows(self, columns, k):
        """z has its value at every time, up to an error of the time."""
        near = 1e-6
        return self.course is None or all(self.course(t - near) - 1e-4 < z < self.course(t + near) + 1e-4 for t, z in zip(columns["time"], columns[f"z{k}"]))


def balance(rng, k, at):
    value = rng.choice([1.5, -3, 0.2])
    declared, equations, _ = flow(rng, k, at)
    return Piece(f"{declared} Real h{k}(start={value}), x{k}(start=0, fixed=true);",
                 f"{equations} m{k}*h{k} = {value}*m{k}; der(x{k}) = h{k};", value * STOP)


def reversing(rng, k, at):
    """The inflow changes at the instant."""
    low, high = rng.choice([(1, 3), (2, 2.5), (-1, 4)])
    declared, equations, rises = flow(rng, k, at)
    first, then = (low, high) if rises else (high, low)
    return Piece(f"{declared} Real h{k}(start={first}), x{k}(start=0, fixed=true);",
                 f"{equations} m{k}*(if noEvent(m{k} < 0) then {low} - h{k} else {high} - h{k}) + 0.5*m{k} = 0; der(x{k}) = h{k};",
                 (first + 0.5) * at + (then + 0.5) * (STOP - at))


def coupled(rng, k, at):
    """m also depends on h."""
    return Piece(f"Real m{k}(start={at!r}), h{k}(start=1.5), d{k}, x{k}(start=0, fixed=true);",
                 f"m{k}*d{k} + m{k}^3 = {at} - time; d{k} = 1 + 0.1*h{k}; m{k}*(1 - h{k}) + 0.5*m{k} = 0; der(x{k}) = h{k};", 1.5 * STOP)


def several(rng, k, at):
    """Two variables are free at once, in one block."""
    declared, equations, _ = flow(rng, k, at)
    return Piece(f"{declared} Real h{k}(start=1.188), g{k}(start=1.881), x{k}(start=0, fixed=true);",
                 f"{equations} m{k}*h{k} = m{k}*(1 + 0.1*g{k}); m{k}*g{k} = m{k}*(2 - 0.1*h{k}); der(x{k}) = h{k};", 1.2 / 1.01 * STOP)


def chain(rng, k, at):
    """A chain of balances, all singular at the same time."""
    declared, equations, _ = flow(rng, k, at)
    return Piece(f"{declared} Real h{k}(start=2), g{k}(start=6), x{k}(start=0, fixed=true);",
                 f"{equations} m{k}*h{k} = 2*m{k}; m{k}*g{k} = 3*m{k}*h{k}; der(x{k}) = g{k};", 6 * STOP)


def flat(rng, k, at):
    """An odd root."""
    order, factor = rng.choice([3, 5]), rng.choice([0.5, 1, 4])
    power = 1 + 1 / order
    return Piece(f"Real z{k}(start={-(factor * at) ** (1 / order)!r}), x{k}(start=0, fixed=true);",
                 f"z{k}^{order} = {factor}*(time - {at}); der(x{k}) = z{k};",
                 factor ** (1 / order) * ((STOP - at) ** power - at**power) / power,
                 lambda t: math.copysign((factor * abs(t - at)) ** (1 / order), t - at))


def flat_bend(rng, k, at):
    """A turbulent flow, in which the root has a bend."""
    return Piece(f"Real z{k}(start={-at**0.5!r}), x{k}(start=0, fixed=true);", f"z{k}*abs(z{k}) = time - {at}; der(x{k}) = z{k};",
                 ((STOP - at) ** 1.5 - at**1.5) / 1.5)


def regularized(rng, k, at):
    """A flow whose root has a small slope at zero."""
    delta = rng.choice([1e-2, 1e-4, 1e-6])
    return Piece(f"Real z{k}(start={-at**0.5!r}), x{k}(start=0, fixed=true);",
                 f"z{k}*sqrt(z{k}^2 + {delta}^2) = time - {at}; der(x{k}) = z{k};", ((STOP - at) ** 1.5 - at**1.5) / 1.5)


def standing(rng, k):
    """A solution that stays at a flat root from the start up to a time, which may be after the end."""
    at, factor = rng.choice([9, rng.uniform(0.2, 1.8)]), rng.choice([0.01, 1, 30])
    law, power = rng.choice([("{0}*abs({0})", 1 / 2), ("{0}^3", 1 / 3), ("(if noEvent({0} > 0) then {0}^2 else -2*{0}^2)", 1 / 2)])
    return Piece(f"Real z{k}(start=0), x{k}(start=0, fixed=true);", f"{law.format(f'z{k}')} = {factor}*max(0, time - {at!r}); der(x{k}) = z{k};",
                 factor**power * max(0, STOP - at) ** (1 + power) / (1 + power))


PASSED = (balance, reversing, coupled, several, chain, flat, flat_bend, regularized)

# Solutions that end: declarations and equations with the time AT.
ENDS = (
    ("Real zs(start=1);", "zs^2 = {0} - time;"),
    ("Real ys(start=0, fixed=true), zs(start=1);", "der(ys) = 1; ys + zs^2 = {0};"),
    ("Real zs(start=0);", "zs*(zs - 0.7*(time - {0})) = 0;"),
    ("Real zs(start=-{0});", "zs*(zs - (time - {0})) = 0;"),
    ("Real zs(start=0);", "zs*(zs^2 - (time - {0})) = 0;"),
    ("Real hs(start=1), xs(start=-{0}, fixed=true);", "(time - {0})*hs = xs; der(xs) = hs;"),
    ("Real hs;", "(time - {0})*hs = 1 + 0.1*time;"),
    ("Real xs(start=1, fixed=true), ys, zs;", "der(xs) = zs; xs + ys = cos(time); (time - {0})*zs = ys;"),
    ("Real xs(start=-0.7, fixed=true), ys, zs;", "der(xs) = zs; 0.5*xs + ys = 1 + time; 3*(time - {0})*zs = 3*ys;"),
    ("Real xs(start=1.3, fixed=true), ys, zs;", "der(xs) = zs; 3*xs + ys = 0; (time - {0})*zs = ys;"),
    ("Real ms(start={0}), hs(start=1);", "ms*(hs - 1) = 0; ms + 0.2*(hs - 1) = {0} - time;"),
    ("Real as(start=1), bs(start=1);", "as + bs = 2; as*bs = 1 - 0.5*({0} - time); "),
)


def text_of(pieces):
    return "model M\n" + "\n".join(f"  {p.declared}" for p in pieces) + "\nequation\n" + "\n".join(f"  {p.equations}" for p in pieces) + "\nend M;\n"


def random_pieces(rng, at):
    count = rng.choice([1, 1, 2, 3])
    return [rng.choice(PASSED)(rng, k, at if rng.random() < 0.3 else rng.randint(3, 37) / 20 + rng.choice([0, 0.0123])) for k in range(count)]


def options_of(rng, solver):
    return {"stop_time": STOP, "solver": solver, "tolerance": rng.choice([1e-5, 1e-6, 1e-8])}


def swing(v, w, damping, stiffness, force, time):
    """(v, w) after a time, for the oscillator v' = w, w' = force - damping*w - stiffness*v."""
    rest, decay = force / stiffness, math.exp(-damping / 2 * time)
    rate = math.sqrt(stiffness - damping**2 / 4)
    cosine, sine = math.cos(rate * time), math.sin(rate * time)
    other = (w + damping / 2 * (v - rest)) / rate
    return (rest + decay * ((v - rest) * cosine + other * sine),
            decay * (w * cosine - (damping / 2 * other + rate * (v - rest)) * sine))


class Instants(unittest.TestCase):
    def test_passed(self):
        tally = Tally("instants that are passed")
        for seed in seeds(200, quick=30):
            rng = random.Random(seed)
            pieces = random_pieces(rng, rng.randint(3, 37) / 20)
            for solver in by_turns(solver_names(), seed):
                options = options_of(rng, solver)
                run = simulate(text_of(pieces), **options)
                ends = [(run.end(f"x{k}"), piece.final) for k, piece in enumerate(pieces)] if run.status == 0 else []
                rows_hold = run.status == 0 and all(piece.has_rows(run.columns, k) for k, piece in enumerate(pieces))
                tally.add(run, lambda: rows_hold and all(abs(end - final) < 2e-3 * (1 + abs(final)) for end, final in ends), seed, options, ends, rows_hold)
        tally.check(self, 0.2)

    def test_dies_out(self):
        """A torque given by its power. Where the speed w passes zero, the power vanishes faster than any power of w: tau*w = c*exp(-c/w)/w. The run may be much longer than its dynamics."""
        tally = Tally("powers that die out")
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            begin, brake, c, stop = rng.uniform(0.3, 1.7), rng.choice([0.7, 1, 3]), rng.choice([0.2, 1, 3]), rng.choice([2, 20, 2e3])
            text = (f"model M\n  Real w(start={begin!r}, fixed=true), tau, p, low;\nequation\n  der(w) = tau - {brake}; low = if noEvent(w < 0) then 0 else w;\n"
                    f"  p = max(0, {c}*exp(-{c}/(low + 2.2e-16))/(low + 2.2e-16)); p = tau*w;\nend M;\n")
            final = self.speed_after(begin, brake, c, stop)
            for solver in by_turns(solver_names(), seed):
                options = {"stop_time": stop, "solver": solver, "tolerance": rng.choice([1e-5, 1e-6, 1e-8]), "intervals": 20}
                run = simulate(text, **options)
                tally.add(run, lambda: abs(run.end("w") - final) < 2e-3 * (1 + abs(final)), seed, options, final, run.columns and run.end("w"))
        tally.check(self, 0.05)

    def test_rests(self):
        """A speed oscillates and decays far below the tolerance. It passes zero many times, in the end only because of errors. Its power
        is zero there, and the torque tau*w = p stays zero. Runs are up to 10^5 times as long as an oscillation, and a varying wind may excite it again."""
        tally = Tally("speeds at rest")
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            damping, stiffness, stop = rng.choice([0.3, 1, 1.9]), rng.choice([1, 5]), rng.choice([50, 2e3, 1e5])
            gust, later, v0 = rng.choice([0, 0.3]), rng.choice([7, 30]), rng.choice([0, 0.1])
            text = (f"model M\n  Real w(start=0.2, fixed=true), v(start={v0}, fixed=true), tau, p, low;\nequation\n"
                    f"  der(w) = tau - {damping}*w - {stiffness}*v + (if time > {later} then {gust} else 0); der(v) = w; low = if noEvent(w < 0) then 0 else w;\n"
                    f"  p = max(0, exp(-1/(low + 2.2e-16)) - 0.5); p = tau*w;\nend M;\n")
            v, w = swing(*swing(v0, 0.2, damping, stiffness, 0, later), damping, stiffness, gust, stop - later)
            for solver in by_turns(solver_names(), seed):
                options = {"stop_time": stop, "solver": solver, "tolerance": rng.choice([1e-5, 1e-6, 1e-8]), "intervals": 20}
                run = simulate(text, **options)
                tally.add(run, lambda: abs(run.end("v") - v) < 1e-3 and abs(run.end("w") - w) < 1e-3 and run.end("tau") == 0, seed, options)
        tally.check(self, 0.35)

    def test_stands(self):
        """Pumps that stand still at the start, where the equations of their speeds are flat, and begin to turn later, or never. A flow that its
        pump drives could also begin at once: that run is refused."""
        tally = Tally("pumps that stand still")
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            pieces = [standing(rng, k) for k in range(rng.choice([1, 1, 2, 3]))]
            options = {"stop_time": STOP, "solver": "erk", "tolerance": rng.choice([1e-5, 1e-6, 1e-8])}
            run = simulate(text_of(pieces), **options)
            ends = [(run.end(f"x{k}"), piece.final) for k, piece in enumerate(pieces)] if run.status == 0 else []
            tally.add(run, lambda: all(abs(end - final) < 2e-3 * (1 + abs(final)) for end, final in ends), seed, options, ends)
            driven = Piece("Real z(start=0), x(start=0, fixed=true);", f"z*abs(z) = {rng.uniform(0.1, 9)!r}*x; der(x) = z;", None)
            self.assertEqual(simulate(text_of([driven])).status, 6)
        tally.check(self, 0.2)

    def test_starts(self):
        """A temperature that its balance leaves free at the start, where the flow begins: the run continues with the one after it."""
        for seed in seeds(40, quick=8):
            rng = random.Random(seed)
            slope, heat, T0 = rng.choice([-2, 0.1, 5]), rng.uniform(1, 50), rng.uniform(200, 400)
            flow = rng.choice([f"m = {slope}*time;", f"der(m) = {slope};", f"m = {slope}*sin(time);"])
            text = (f"model M\n  Real m{'(start=0, fixed=true)' if 'der' in flow else ''}, T(start={T0!r}), Q, x(start=0, fixed=true);\nequation\n"
                    f"  {flow} Q = 2*m*(T - 370); Q = -{heat!r}*m; der(x) = T;\nend M;\n")
            for solver in by_turns(solver_names(), seed):
                run = simulate(text, stop_time=2, solver=solver)
                self.assertEqual(run.status, 0, (text, solver, run.words))
                self.assertAlmostEqual(run.end("T"), 370 - heat / 2, 3)
                self.assertAlmostEqual(run.end("x"), 2 * (370 - heat / 2), 1)

    def speed_after(self, begin, brake, c, stop):
        """Integrates by Runge and Kutta's method, up to the time at which only the brake is left or equilibrium is reached."""
        def rate(w):
            return (c * math.exp(-c / w) / w**2 if w > c / 700 else 0) - brake
        w, t, h = begin, 0, 1e-3
        while t < min(stop, 20) - h / 2 and w > 0:
            k1 = rate(w)
            k2 = rate(w + h / 2 * k1)
            k3 = rate(w + h / 2 * k2)
            w, t = w + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(w + h * k3)), t + h
        return w if w > 0 else w - brake * (stop - t)

    def test_ends(self):
        tally = Tally("instants that end a run")
        for seed in [*seeds(200, quick=30), 207]:
            rng = random.Random(seed + 10**6)
            at = rng.randint(8, 32) / 20 + rng.choice([0, 0.0123])
            last = Piece(*(text.format(at) for text in ENDS[seed % len(ENDS)]), None)
            pieces = [piece for piece in random_pieces(rng, at) if rng.random() < 0.5] + [last]
            for solver in by_turns(solver_names(), seed // len(ENDS)):
                options = options_of(rng, solver)
                run = simulate(text_of(pieces), **options)
                named = run.status == 6 and any(words in run.words for words in NAMED) and abs(run.report["singular"]["time"] - at) < 1e-3
                (tally.add_right if named else lambda: tally.add_wrong(seed, options, run.status, run.words[:150]))()
        tally.check(self)

    def test_ends_where_another_is_passed(self):
        """A pole exactly at the time of a multiple root, near which the rows cannot be solved: no method steps over it."""
        tally = Tally("poles beside roots that are passed")
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            at, width = rng.uniform(0.5, 1.8), rng.choice([1e-3, 1e-4, 1e-5])
            text = (f"model M\n  Real z(start={-math.sqrt(at)!r}), x(start=0, fixed=true), h;\nequation\n  z*sqrt(z^2 + {width}^2) = time - {at!r};\n"
                    f"  der(x) = z; (time - {at!r})*h = 1 + 0.1*time;\nend M;\n")
            for solver in by_turns(solver_names(), seed):
                options = {"stop_time": 2, "solver": solver, "tolerance": rng.choice([1e-4, 1e-6, 1e-8])}
                run = simulate(text, **options)
                named = run.status == 6 and abs(run.report["singular"]["time"] - at) < 1e-3
                (tally.add_right if named else lambda: tally.add_wrong(seed, options, run.status, run.words[:150]))()
        tally.check(self)

    def test_start_values_choose(self):
        """Solutions that branch off at the start of the run: the one nearest to the start values is taken and reported; without
        start values there is none."""
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            scale, power, side = 10 ** rng.uniform(-2, 2), rng.choice([1, 1, 2]), rng.choice([-1, 1])
            given = rng.random() < 0.8
            level = rng.choice(["{}*time", "{}*sin(time)", "{}*(time + time^2)"]).format(repr(scale))
            start = f"(start = {side * 10 ** rng.uniform(-1, 1) * scale!r})" if given else ""
            text = (f"model M\n  Real x{start}, y, z(start = 1, fixed = true);\nequation\n  noEvent(abs(x))*(1 + noEvent(abs(x))^{power}) = {level};\n"
                    f"  y = 2*x + 1;\n  der(z) = -z;\nend M;\n")
            run = simulate(text)
            if not given:
                self.assertNotEqual(run.status, 0, text)
                continue
            self.assertEqual(run.status, 0, (text, run.words))
            self.assertIn("several solutions continue from the start", run.words, text)
            x = run.end("x")
            self.assertGreater(side * x, 0, text)
            level = {"t": scale, "s": scale * math.sin(1), "(": 2 * scale}[level.split("*", 1)[1][0]]
            self.assertAlmostEqual(abs(x) * (1 + abs(x) ** power) / level, 1, 5, text)

    def test_multipliers(self):
        """A multiplier has a pole where its coefficient passes or touches zero. Methods that integrate the system as it is may step
        over that, and report it, however few the output points are."""
        tally = Tally("poles of multipliers")
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            at, order = rng.uniform(0.4, 1.6), rng.choice([1, 2])
            course = rng.choice(["sin(time)", "0.5*time^2 + time", "1 - exp(-time)"])
            text = f"model M\n  Real x, v, l;\nequation\n  der(x) = v; der(v) = l*{rng.uniform(0.5, 3)}*(time - {at})^{order}; x = {course};\nend M;\n"
            for method in by_turns(["ggl", "none", "overdetermined"], seed):
                options = {"stop_time": STOP, "method": method, "solver": rng.choice(["auto", "radau", "bdf", "ida"]), "intervals": rng.choice([1, 2, 5, 500])}
                run = simulate(text, **options)
                said = run.status == 0 and re.search(r"near time (\S+) the determinant of a Jacobian is zero", run.words)
                named = run.status == 6 or (said and abs(float(said.group(1)) - at) < 0.05)
                (tally.add_right if named else lambda: tally.add_wrong(seed, options, at, order, run.status, run.words[:150]))()
        tally.check(self)


if __name__ == "__main__":
    unittest.main()
