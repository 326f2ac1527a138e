"""Events of `if`: generated models, run with every solver, against solutions in closed form between events.

Wide runs: see runs.py."""
import csv
import json
import math
import os
import random
import re
import subprocess
import tempfile
import unittest

import runs

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
SOLVERS = ("auto", "erk", "radau", "bdf", "ida", "cvode")


def nearest_to_zero(g, low, high):
    """The place where g, which has one sign and a turning point in between, is nearest to zero; or a place where it has the other sign."""
    side = g(low) > 0
    for _ in range(60):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if (g(a) > 0) != side:
            return a
        low, high = (low, b) if abs(g(a)) < abs(g(b)) else (a, high)
    return low


def looks_at(g, end, looks):
    """(time, g) at equal distances, and between two of them where g turns towards zero, because it may cross zero twice there. The
    last one is after the end, so that a turn before the end is seen."""
    look = [(1e-13, g(1e-13))] + [(end * k / looks, g(end * k / looks)) for k in range(1, looks + 2)]
    found = list(look)
    for (a, g_a), (_, g_b), (c, g_c) in zip(look, look[1:], look[2:]):
        if (g_a > 0) == (g_b > 0) == (g_c > 0) and abs(g_b) <= min(abs(g_a), abs(g_c)):
            t = nearest_to_zero(g, a, c)
            found.append((t, g(t)))
    return sorted(found)


def crossings(g, end, looks):
    """Times in (0, end) at which g changes its sign."""
    found, look = [], looks_at(g, end, looks)
    for (low, before), (high, now) in zip(look, look[1:]):
        if (now > 0) != (before > 0):
            for _ in range(60):
                middle = (low + high) / 2
                if (g(middle) > 0) == (before > 0):
                    low = middle
                else:
                    high = middle
            found.append(high)
    return [t for t in found if t < end]


def pieces(g, end, looks):
    """Intervals between the crossings of g."""
    times = [0.0] + crossings(g, end, looks) + [end]
    return list(zip(times, times[1:]))


def measure(g, end, looks=2000):
    """How long g is positive."""
    return sum(b - a for a, b in pieces(g, end, looks) if g((a + b) / 2) > 0)


def integral(function, breaks):
    """Simpson's rule between breaks."""
    total = 0
    for a, b in zip(breaks, breaks[1:]):
        steps = 8 + 2 * math.ceil(200 * (b - a))
        h = (b - a) / steps
        odd = sum(function(a + h * k) for k in range(1, steps, 2))
        even = sum(function(a + h * k) for k in range(2, steps, 2))
        ends = function(a + 1e-9 * h) + function(b - 1e-9 * h)
        total += h / 3 * (ends + 4 * odd + 2 * even)
    return total


# A case: declarations, equations, stop time, the values that variables must have there, and the amplification of errors beyond 1.


def square_wave(rng):
    w, p, c = rng.uniform(1, 60), rng.uniform(0, 6), rng.uniform(-0.95, 0.95)
    relation = rng.choice((">", ">=", "<", "<="))
    g = lambda t: (math.sin(w * t + p) - c) * (1 if relation[0] == ">" else -1)
    if rng.random() < 0.5:
        return "Real s(start=0, fixed=true);", f"der(s) = if sin({w}*time + {p}) {relation} {c} then 1 else 0;", 2, {"s": measure(g, 2)}
    declared = "Real s(start=0, fixed=true), u, d;"
    return declared, f"u = sin(d + {p}); d = {w}*time; der(s) = if u {relation} {c} then 1 else 0;", 2, {"s": measure(g, 2)}


def pulse(rng):
    at, width = rng.uniform(0.1, 0.9), 10 ** rng.uniform(-8, -2)
    shape = rng.randrange(3)
    if shape == 0:
        text, length = f"time > {at} and time < {at + width}", (at + width) - at
    elif shape == 1:
        text, length = f"((time - {at})/{width})^2 < 1", 2 * width
    else:
        text, length = f"exp(-((time - {at})/{width})^2) > 0.5", 2 * width * math.sqrt(math.log(2))
    return "Real s(start=0, fixed=true);", f"der(s) = if {text} then {1 / length} else 0;", 1, {"s": 1.0}


def sum_of_sines(rng):
    terms = [(rng.uniform(0.2, 1), rng.uniform(1, 40), rng.uniform(0, 6)) for _ in range(rng.randint(2, 4))]
    c = rng.uniform(-0.5, 0.5)
    g = lambda t: sum(a * math.sin(w * t + p) for a, w, p in terms) - c
    text = " + ".join(f"{a}*sin({w}*time + {p})" for a, w, p in terms)
    return "Real s(start=0, fixed=true);", f"der(s) = if {text} > {c} then 1 else 0;", 2, {"s": measure(g, 2)}


def oscillator(rng):
    w, c, end = rng.uniform(1, 20), rng.choice((1, -1)) * (1 - 10 ** rng.uniform(-6, 0)), rng.uniform(1, 4)
    g = lambda t: math.cos(w * t) - c
    declared = "Real x(start=1, fixed=true), v(start=0, fixed=true), s(start=0, fixed=true);"
    condition = "z" if rng.random() < 0.5 else "x"
    text = f"der(x) = v; der(v) = -{w}^2*x; der(s) = if {condition} > {c} then 1 else 0;"
    if condition == "z":
        declared, text = declared + " Real z;", text + " z = x;"
    condition = 1 + w * end / math.sqrt(1 - c * c) / 10  # each crossing adds the error in x divided by the speed of x there
    return declared, text, end, {"s": measure(g, end), "x": math.cos(w * end)}, condition


def approach(rng):
    """x = r*t + a*sin(w*t) is far from an edge for many steps, then passes it: once, or back and forth."""
    r, w, end = rng.uniform(0.5, 2), rng.uniform(1, 8), rng.uniform(10, 40)
    a, c = r / w * rng.choice((rng.uniform(0.1, 0.8), rng.uniform(1.5, 4))), r * end * rng.uniform(0.6, 0.95)
    g = lambda t: r * t + a * math.sin(w * t) - c
    speed = min(abs(r + a * w * math.cos(w * t)) for t in crossings(g, end, 20000))
    declared = f"Real x(start=0, fixed=true), v(start={r + a * w}, fixed=true), p(start=0, fixed=true), s(start=0, fixed=true);"
    text = f"der(x) = v; der(v) = -{w}^2*(x - p); der(p) = {r}; der(s) = if x > {c} then 1 else 0;"
    return declared, text, end, {"s": measure(g, end)}, (1 + w * end) * (1 + c / speed)


def looped(rng):
    """The condition reads a column that is solved for and whose derivative is not a column: it follows an input that no state
    follows."""
    a, w, k, c = rng.uniform(0.3, 2), rng.uniform(5, 60), rng.uniform(0.05, 1), rng.uniform(-0.8, 0.8)
    c *= a
    g = lambda t: a * math.sin(w * t) + 0.1 * math.exp(-k * t) - c - 0.1 * c**3
    declared = "Real x(start=0.1, fixed=true), z(start=0.1), s(start=0, fixed=true);"
    text = f"der(x) = -{k}*x; z + 0.1*z^3 = {a}*sin({w}*time) + x; der(s) = if z > {c} then 1 else 0;"
    return declared, text, 2, {"s": measure(g, 2)}, 1 + w


def mixed(rng):
    a, w, slope, c = rng.uniform(0.3, 1), rng.uniform(5, 80), rng.uniform(-1, 1), rng.uniform(-0.3, 0.3)
    g = lambda t: c + slope * t - a * math.sin(w * t)
    declared = f"Real x(start={c}, fixed=true), s(start=0, fixed=true);"
    return declared, f"der(x) = {slope}; der(s) = if x > {a}*sin({w}*time) then 1 else 0;", 1, {"s": measure(g, 1)}


def forced(rng):
    """x' = -k x + u with a square wave u."""
    k, w, p = rng.uniform(0.2, 5), rng.uniform(2, 40), rng.uniform(0, 6)
    g, x, end = (lambda t: math.sin(w * t + p)), 0.3, 3
    for a, b in pieces(g, end, 2000):
        u = 1 if g((a + b) / 2) > 0 else -1
        x = u / k + (x - u / k) * math.exp(-k * (b - a))
    declared = "Real x(start=0.3, fixed=true), u;"
    return declared, f"der(x) = u - {k}*x; u = if sin({w}*time + {p}) > 0 then 1 else -1;", end, {"x": x}


def rectifier(rng):
    """C vc' = i - vc/R, i = (v - vc)/r where v > vc."""
    w, r, R = rng.uniform(3, 60), 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-0.5, 1)
    end, x, t, on = 2.0, 0.0, 0.0, True

    def solution(k, m, x0, t0):  # x' = -k x + m sin(w t)
        steady = lambda s: m * (k * math.sin(w * s) - w * math.cos(w * s)) / (k * k + w * w)
        return lambda s: steady(s) + (x0 - steady(t0)) * math.exp(-k * (s - t0))

    while t < end:
        now = solution(1 / r + 1 / R, 1 / r, x, t) if on else solution(1 / R, 0, x, t)
        step, u, out = 0.02 / w, t, lambda s: (math.sin(w * s) - now(s) > 0) != on
        while u < end and not out(u + step):
            u += step
        low, high = u, min(u + step, end)
        if u < end and out(high):
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if out(middle) else (middle, high)
        x, t, on = now(high), high, not on
    declared = "Real vc(start=0, fixed=true), v, i, u;"
    text = f"v = sin({w}*time); u = v - vc; i = if u > 0 then u/{r} else 0; der(vc) = i - vc/{R};"
    return declared, text, end, {"vc": x}


def switched(rng):
    """Two linear fields that both lead across the threshold."""
    c, a1, a2, k1, k2 = rng.uniform(0.2, 0.8), rng.uniform(1, 3), rng.uniform(3, 6), rng.uniform(0, 1), rng.uniform(0, 2)
    at = -math.log(1 - k1 * c / a1) / k1
    x = a2 / k2 + (c - a2 / k2) * math.exp(-k2 * (3 - at))
    return "Real x(start=0, fixed=true);", f"der(x) = if x < {c} then {a1} - {k1}*x else {a2} - {k2}*x;", 3, {"x": x}


def from_zero(rng):
    """A relation whose difference is exactly zero at the start changes in the direction of its derivative."""
    slope, relation = rng.choice((-1, 1)) * rng.uniform(0.1, 3), rng.choice((">", ">=", "<", "<="))
    holds = (slope > 0) == (relation[0] == ">")
    return ("Real x(start=0, fixed=true), s(start=0, fixed=true);",
            f"der(x) = {slope}; der(s) = if x {relation} 0 then 1 else 2;", 1, {"s": 1.0 if holds else 2.0})


def integers(rng):
    w, a, b = rng.uniform(1, 9), rng.uniform(1, 5) * rng.choice((-1, 1)), rng.uniform(0.3, 2)
    argument = rng.choice(("time", "x"))
    value = (lambda t: a * t) if argument == "time" else (lambda t: a * math.cos(w * t))
    name = rng.choice(("floor", "ceil", "integer", "mod", "rem", "div", "sign", "abs"))
    of = {"floor": math.floor, "integer": math.floor, "ceil": math.ceil, "sign": lambda u: math.copysign(1, u), "abs": abs,
          "mod": lambda u: u - b * math.floor(u / b), "rem": lambda u: u - b * math.trunc(u / b), "div": lambda u: math.trunc(u / b)}[name]
    unit = b if name in ("mod", "rem", "div") else 1
    edges, most = [0.0], math.ceil(abs(a) / unit)
    for n in range(-most, most + 1):
        edges += crossings(lambda t: value(t) - n * unit, 1, 200)
    edges = sorted(edges) + [1.0]
    call = f"{name}({a}*{argument}, {b})" if unit is b else f"{name}({a}*{argument})"
    declared = "Real x(start=1, fixed=true), v(start=0, fixed=true), s(start=0, fixed=true);"
    text = f"der(x) = v; der(v) = -{w}^2*x; der(s) = {call};"
    return declared, text, 1, {"s": integral(lambda t: of(value(t)), edges)}


def bends(rng):
    """The integrand has kinks where x, or an unknown that follows it, passes an edge without an event, often back and forth."""
    w, c, end = rng.uniform(1, 12), rng.choice((1, -1)) * (1 - 10 ** rng.uniform(-3, 0)), rng.uniform(1, 3)
    a, b = rng.uniform(0.5, 3), rng.uniform(-3, 0.3)
    of = {"abs(u - c)": lambda u: abs(u - c), "a*min(u, c)": lambda u: a * min(u, c), "max(a*u, a*c)": lambda u: a * max(u, c),
          "semiLinear(u - c, a, b)": lambda u: (u - c) * (a if u > c else b),
          "noEvent(if u > c then a*(u - c) else 0)": lambda u: a * max(u - c, 0),
          "smooth(0, if u < c then b*(u - c) else 0)": lambda u: b * min(u - c, 0)}
    text = rng.choice(list(of))
    edges = [0.0] + crossings(lambda t: math.cos(w * t) - c, end, 2000) + [end]
    declared = f"parameter Real a = {a}, b = {b}, c = {c}; Real x(start=1, fixed=true), v(start=0, fixed=true), s(start=0, fixed=true), u(start=1);"
    follows = rng.choice(("u = x", "u + 0.1*u^3 = x + 0.1*x^3", "u = sin(0) + 1*x"))
    equations = f"der(x) = v; der(v) = -{w}^2*x; {follows}; der(s) = {text};"
    return declared, equations, end, {"s": integral(lambda t: of[text](math.cos(w * t)), edges)}


def infinite(rng):
    """A discrete value begins with a constant that stands for infinity; conditions and limits use it and multiples of it."""
    huge = rng.choice((1e60, 1e150, 1e305, 1.7976931348623157e308))
    a, d, slope, top = rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.3), rng.uniform(0.5, 50), rng.uniform(1, 5)
    if rng.random() < 0.5:
        declared = f"discrete Real since(start = -{huge}, fixed = true); Real s(start = 0, fixed = true), y, x(start = 0, fixed = true);"
        equations = f"der(x) = 1; when x > {a} then since = time; end when; y = min({top}, {slope}*(time - since)); der(s) = y;"
        full = min(1 - a, top / slope)
        return declared, equations, 1, {"s": top * a + slope * full ** 2 / 2 + top * (1 - a - full)}
    declared = f"discrete Real next(start = {huge}, fixed = true); Real s(start = 0, fixed = true), x(start = 0, fixed = true);"
    equations = f"der(x) = 1; when x > {a} then next = time + {d}; end when; der(s) = if {slope}*x > {slope}*next then {top} else max(-{slope}*next, 1);"
    return declared, equations, 1, {"s": a + d + top * (1 - a - d)}


CLASSES = (infinite, square_wave, pulse, sum_of_sines, oscillator, approach, looped, mixed, forced, rectifier, switched, from_zero, integers, bends)

# Models whose conditions hold only for a short time: between samples, the last of which is much closer than the others, or right after an event.
PAIRS = ((6560, oscillator, "radau"), (10058, oscillator, "radau"), (19034, oscillator, "radau"), (9710477, mixed, "cvode"))

# Steps across kinks. One step is much shorter than those before; another one is long, because no state limits it while an unknown without a derivative oscillates.
LONG_STEPS = ((3024, integers, "radau"), (2447, integers, "erk"), (240, bends, "radau"), (458, bends, "erk"), (145, looped, "bdf"),
              (9531058, integers, "cvode"))


def simulate(text, end, solver, tolerance, *options):
    path = os.path.join(WORK, "m.mo")
    with open(path, "w") as file:
        file.write(text)
    run = subprocess.run([DAEDAL, "simulate", path, "--solver", solver, "--tolerance", str(tolerance), "--stop-time", repr(end), "--intervals", "3",
                          "--output-file", "-", "-q", *options], capture_output=True, text=True)
    rows = list(csv.reader(run.stdout.splitlines()))
    return run, dict(zip(rows[0], map(float, rows[-1]))) if run.returncode == 0 else {}


class Generated(unittest.TestCase):
    def error(self, values, expected, tolerance, condition=1):
        """The largest error relative to the one that the tolerance allows."""
        return max(abs(values.end(name) - value) / ((tolerance * max(1, abs(value)) + 1e-10) * condition) for name, value in expected.items())

    def test_against_closed_forms(self):
        """Global errors may be a few times the tolerance; a missed event makes far larger ones."""
        tallies = {make: runs.Tally(make.__name__) for make in CLASSES}
        drawn = [(seed, CLASSES[seed % len(CLASSES)], SOLVERS[(seed // len(CLASSES)) % len(SOLVERS)]) for seed in runs.seeds(90)]
        for seed, make, solver in [*drawn, *PAIRS, *LONG_STEPS]:
            rng = random.Random(seed)
            declared, equations, end, expected, *condition = make(rng)
            tolerance = 10 ** rng.uniform(-11, -3)
            run = runs.simulate(f"model M\n  {declared}\nequation\n  {equations}\nend M;\n", stop_time=end, solver=solver, tolerance=tolerance, intervals=3)
            tallies[make].add(run, lambda: self.error(run, expected, tolerance, *condition) < 1000, seed, solver, tolerance, run.words)
        for tally in tallies.values():
            tally.check(self)


def narrow(rng):
    """A condition on a function of states that is narrow compared with their steps: a bell, a resonance or a wave."""
    w, p, a, end = rng.uniform(0.7, 3), rng.uniform(0, 6), rng.uniform(0.5, 2), rng.uniform(3, 15)
    x, v = lambda t: a * math.cos(w * t + p), lambda t: -a * w * math.sin(w * t + p)
    read, q = rng.choice((("x", x), ("v", v), ("x*v", lambda t: x(t) * v(t)), ("(x + 0.5*v)", lambda t: x(t) + 0.5 * v(t))))
    width, c, level = 10 ** rng.uniform(-2.3, -0.7), rng.uniform(-0.4, 0.4) * a, rng.uniform(0.2, 0.8)
    shape = rng.randrange(3)
    if shape == 2:
        k = rng.uniform(5, 60) / a
        text, g = f"sin({k}*{read}) > {level}", lambda t: math.sin(k * q(t)) - level
    else:
        text = (f"exp(-(({read} - ({c}))/{width})^2) > {level}", f"1/(1 + (({read} - ({c}))/{width})^2) > {level}")[shape]
        reach = width * math.sqrt(-math.log(level) if shape == 0 else 1 / level - 1)
        g = lambda t: reach - abs(q(t) - c)
    times = crossings(g, end, 20000)
    speed = min((abs(q(t + 1e-6) - q(t - 1e-6)) / 2e-6 for t in times), default=1)
    declared = f"Real x(start={x(0)}, fixed=true), v(start={v(0)}, fixed=true), s(start=0, fixed=true); Integer n(start=0, fixed=true);"
    equations = f"der(x) = v; der(v) = -{w}^2*x; der(s) = if {text} then 1 else 0; when {text} then n = pre(n) + 1; end when;"
    found = {"s": measure(g, end, 20000), "n": sum(g(t + 1e-9) > 0 for t in times)}
    return declared, equations, end, found, (1 + w * end) * (1 + a * w / speed)


def resting(rng):
    """A capacitor after a diode. Its charge, the only state, is constant for long intervals: the variable that opens the diode follows time, through equations."""
    w, p, r, end = rng.uniform(0.5, 10), rng.uniform(0, 6), rng.uniform(0.03, 0.6), rng.uniform(5, 20)
    beat, slow, share = rng.uniform(0, 0.6), rng.uniform(0.2, 2), rng.uniform(0.1, 0.9)
    wave = lambda t: (math.sin(w * t + p) + beat * math.sin(slow * t)) / (1 + share)
    q = first = rng.uniform(-0.3, 0.5) / (1 + share)
    h, count, was_open = end / 200000, 0, False
    for k in range(200000):  # the exact solution over a step, with the wave at its mean; a step is far shorter than all time constants
        u = wave((k + 0.5) * h)
        count += u > q and not was_open
        was_open = u > q
        if was_open:
            q = u + (q - u) * math.exp(-h / r)
    declared = f"Real q(start={first}, fixed=true), i, u, g, v, s(start=0); Boolean off(start=true); Integer n(start=0, fixed=true);"
    law = rng.choice((f"off = s < 0; v = if off then s else 0; i = if off then 0 else s; v = u - {r}*i - q;",
                      f"off = u < q; i = if off then 0 else (u - q)/{r}; v = u - q; s = v;"))
    drive = f"u + g = sin({w}*time + {p}) + {beat}*sin({slow}*time); g = {share}*u;"
    return declared, f"{drive} {law} der(q) = i; when not off then n = pre(n) + 1; end when;", end, {"q": q, "n": count}


class Resting(unittest.TestCase):
    """Constant states do not show when an event is due."""

    def test_against_fine_steps(self):
        tally = runs.Tally("resting")
        for seed in runs.seeds(18):
            rng = random.Random(seed)
            declared, equations, end, expected = resting(rng)
            solver, tolerance = SOLVERS[seed % len(SOLVERS)], 10 ** rng.uniform(-9, -5)
            run = runs.simulate(f"model M\n  {declared}\nequation\n  {equations}\nend M;\n", stop_time=end, solver=solver, tolerance=tolerance, intervals=3)
            # a wave that barely reaches the charge may open the diode or not
            tally.add(run, lambda: abs(run.end("q") - expected["q"]) < 2e-4 and abs(run.end("n") - expected["n"]) <= 1, seed, solver, tolerance, run.words)
        tally.check(self)

    def test_loose_tolerances(self):
        """Diodes that conduct and block weakly: the variable that opens them changes fast while the states change, which is not a reason to reject a step."""
        tally = runs.Tally("loose")
        for seed in runs.seeds(90):
            rng = random.Random(seed)
            declared = equations = ""
            for k in range(rng.randint(1, 2)):
                decay, w = rng.uniform(0.1, 1), rng.uniform(1, 30)
                drive = rng.choice((f"cos({w}*time)*exp(-{decay}*time)", f"exp(-((time - {decay})/{rng.uniform(0.05, 1)})^2)", f"sin({w}*time)"))
                declared += f"Real q{k}(start=0, fixed=true), v{k}, i{k}, s{k}(start=0); Boolean off{k}(start=true);"
                equations += (f"off{k} = s{k} < 0; v{k} = if off{k} then s{k} else {10 ** rng.uniform(-4, -2)}*s{k}; i{k} = if off{k} then {10 ** rng.uniform(-6, -4)}*s{k} else s{k};"
                              f"v{k} = {rng.uniform(1, 5)}*{drive} - q{k} - {rng.uniform(0.1, 0.5)}*i{k}; {rng.uniform(0.2, 0.6)}*der(q{k}) = i{k} - q{k}/{10 ** rng.uniform(-0.5, 1.5)};")
            solver, tolerance = "cvode", 10 ** rng.uniform(-4, -2)
            run = runs.simulate(f"model M\n  {declared}\nequation\n  {equations}\nend M;\n", stop_time=10, solver=solver, tolerance=tolerance, intervals=3)
            tally.add(run, lambda: run.end("q0") > -0.5, seed, solver, tolerance, run.words)
        tally.check(self)


class Narrow(Generated):
    """Conditions that hold only for a small part of a step."""

    def test_against_closed_forms(self):
        tally = runs.Tally("narrow")
        for seed in runs.seeds(36):
            rng = random.Random(seed)
            declared, equations, end, expected, condition = narrow(rng)
            solver, tolerance = SOLVERS[seed % len(SOLVERS)], 10 ** rng.uniform(-10, -4)
            run = runs.simulate(f"model M\n  {declared}\nequation\n  {equations}\nend M;\n", stop_time=end, solver=solver, tolerance=tolerance, intervals=3)
            tally.add(run, lambda: self.error(run, expected, tolerance, condition) < 1000, seed, solver, tolerance, run.words)
        tally.check(self)

    def test_many_of_a_step(self):
        """The first of the pulses of a step is found, even if it is the narrowest."""
        tally = runs.Tally("many")
        for seed in runs.seeds(40):
            rng = random.Random(seed)
            w, k, level = rng.uniform(1, 4), 10 ** rng.uniform(1.7, 2.5), rng.uniform(0.03, 0.3)
            wave = [math.cos(w * 6e-5 * i) for i in range(100001)]
            wave = [x**8 * math.sin(k * x) for x in wave]
            counts = {sum(a <= edge < b for a, b in zip(wave, wave[1:])) for edge in (0.98 * level, level, 1.02 * level)}
            if len(counts) > 1:
                continue  # the solution touches this edge, or barely misses it
            solver, tolerance = SOLVERS[seed % len(SOLVERS)], 10 ** rng.uniform(-10, -7)
            text = (f"model M\n  Real x(start=1, fixed=true), v(start=0, fixed=true); Integer n(start=0, fixed=true);\nequation\n  der(x) = v; der(v) = -{w}^2*x;\n"
                    f"  when x^8*sin({k}*x) > {level} then n = pre(n) + 1; end when;\nend M;\n")
            run = runs.simulate(text, stop_time=6, solver=solver, tolerance=tolerance, intervals=3)
            tally.add(run, lambda: run.end("n") in counts, seed, solver, tolerance, run.words)
        tally.check(self)


class Restarts(unittest.TestCase):
    def test_jump_by_several_methods(self):
        """Masses whose velocities satisfy sum of w v = u, where u jumps; m v' = w l distributes the jump according to their inertia."""
        for seed in range(8):
            rng = random.Random(seed)
            masses = [(rng.uniform(0.5, 3), rng.choice([-1, 1]) * rng.uniform(0.5, 2), rng.uniform(-1, 1)) for _ in range(rng.randint(2, 4))]
            before, jump = sum(w * v for _, w, v in masses), rng.uniform(0.5, 2)
            share = jump / sum(w * w / m for m, w, _ in masses)
            text = "model M\n Real l;\n" + "".join(f" Real v{k}(start = {v!r});\n" for k, (_, _, v) in enumerate(masses)) + "equation\n"
            text += "".join(f" {m!r}*der(v{k}) = {w!r}*l;\n" for k, (m, w, _) in enumerate(masses))
            text += " + ".join(f"{w!r}*v{k}" for k, (_, w, _) in enumerate(masses)) + f" = {before!r} + (if time < 0.5 then 0 else {jump!r});\nend M;\n"
            for method in ("dummy", "strangeness", "minimal", "projection", "none"):
                with self.subTest(seed=seed, method=method):
                    run, values = simulate(text, 1.0, "auto", 1e-8, "--method", method)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    for k, (m, w, v) in enumerate(masses):
                        self.assertAlmostEqual(values[f"v{k}"], v + share * w / m, delta=1e-7)


def chain(rng):
    """Diodes from node to node, each node with a capacitor and a load."""
    n, ron, roff = rng.randint(2, 8), 10 ** rng.uniform(-2, 0.5), 10 ** rng.uniform(4, 7)
    c, load, frequency = 10 ** rng.uniform(-6, -4), 10 ** rng.uniform(3, 5), rng.uniform(20, 100)
    declared, equations = "Real u, s;", f"s = 10*sin({2 * math.pi * frequency}*time); (s - u)/10 = i1;"
    for k in range(1, n + 1):
        declared += f" Real v{k}(start=0, fixed=true), i{k}, d{k};"
        equations += f" d{k} = {'u' if k == 1 else f'v{k - 1}'} - v{k}; i{k} = if d{k} > 0 then d{k}/{ron} else d{k}/{roff};"
        equations += f" {c}*der(v{k}) = i{k} - {f'i{k + 1}' if k < n else '0'} - v{k}/{load};"
    return declared, equations, 2 / frequency, n


def clipper(rng):
    """Resistors from node to node, each node with a capacitor and a diode to ground."""
    n, ron, roff = rng.randint(2, 8), 10 ** rng.uniform(-2, 0.5), 10 ** rng.uniform(4, 6)
    c, r, frequency = 10 ** rng.uniform(-6, -5), 10 ** rng.uniform(1, 2.5), rng.uniform(20, 100)
    declared, equations = "Real v0;", f"v0 = 10*sin({2 * math.pi * frequency}*time);"
    for k in range(1, n + 1):
        declared += f" Real v{k}(start=0, fixed=true), i{k}, j{k};"
        equations += f" i{k} = (v{k - 1} - v{k})/{r}; j{k} = if v{k} > 0 then v{k}/{ron} else v{k}/{roff};"
        equations += f" {c}*der(v{k}) = i{k} - j{k} - {f'i{k + 1}' if k < n else '0'};"
    return declared, equations, 2 / frequency, n


def report(text, end, solver, tolerance, *options):
    """The report of a run, and its last row."""
    run, values = simulate(text, end, solver, tolerance, "--json", os.path.join(WORK, "m.json"), *options)
    with open(os.path.join(WORK, "m.json")) as file:
        return run, values, json.load(file)


class Located(unittest.TestCase):
    """An algebraic variable w, w + a*w^3 = p + b*q over an oscillator, passes a level at which the solution has a kink or rates
    jump."""

    def draw(self, seed):
        rng = random.Random(seed)
        speed, a, b, stop = rng.uniform(0.5, 5), rng.uniform(0.1, 3), rng.uniform(-1, 1), rng.uniform(5, 15)
        level = rng.uniform(-0.5, 0.5)
        within = rng.choice(["w - LEVEL", "1 + w"]).replace("LEVEL", repr(level))
        text = (f"model M\n Real p(start = 1, fixed = true), q(start = 0, fixed = true), r(start = 0, fixed = true), w;\nequation\n"
                f" der(p) = {speed!r}*q;\n der(q) = -{speed!r}*p;\n w + {a!r}*w^3 = p + {b!r}*q;\n"
                f" der(r) = -r + (if w > {level!r} then {within} else 0);\nend M;\n")
        return text, level, stop, lambda t: math.cos(speed * t) - b * math.sin(speed * t) - level - a * level**3

    def test_times_and_values(self):
        for seed in runs.seeds(12):
            text, level, stop, difference = self.draw(seed)
            expected = crossings(difference, stop, 2000)
            for solver in runs.by_turns(("erk", "radau", "bdf"), seed):
                with self.subTest(seed=seed, solver=solver):
                    run = runs.simulate(text, solver=solver, tolerance=1e-9, stop_time=stop, intervals=1)
                    self.assertEqual(run.status, 0, run.words)
                    times, w = run.columns["time"], run.columns["w"]
                    found = [k for k in range(1, len(times) - 1) if times[k] == times[k - 1]]
                    self.assertEqual(len(found), len(expected))
                    for k, time in zip(found, expected):
                        self.assertAlmostEqual(times[k], time, delta=1e-5)
                        # rows are solved there, and the level is reached to round-off
                        self.assertAlmostEqual(w[k], level, delta=1e-11)


class Circuits(unittest.TestCase):
    """Stiff circuits of piecewise linear diodes, all of whose conditions are zero at the start."""

    STAYING = (9500220, 9500222, 9500228, 9500260)  # a diode stays beyond its edge by less than the tolerance

    def is_right(self, run, reference, n):
        """The values are right, with few events and steps."""
        near = all(abs(run.end(f"v{k}") - reference.end(f"v{k}")) < 1e-3 * (1 + abs(reference.end(f"v{k}"))) for k in range(1, n + 1))
        return near and run.report["events"] < 40 * n and run.report["steps"] < 1000 * n

    def test_solvers_agree(self):
        tally = runs.Tally("stiff circuits of diodes")
        for seed in [*runs.seeds(6), *self.STAYING]:
            declared, equations, end, n = (chain, clipper)[seed % 2](random.Random(seed))
            text = f"model M\n  {declared}\nequation\n  {equations}\nend M;\n"
            reference = runs.simulate(text, stop_time=end, solver="radau", tolerance=1e-9, intervals=3)
            if reference.status:
                tally.add_refused(reference, seed)
                continue
            events = {}
            for solver in ("auto", *runs.by_turns(("radau", "bdf", "ida", "cvode"), seed // 2)):
                run = runs.simulate(text, stop_time=end, solver=solver, tolerance=1e-6, intervals=3)
                tally.add(run, lambda: self.is_right(run, reference, n), seed, solver)
                events[solver] = run.report.get("events", 0)
            if events.pop("auto") > 2 * max(events.values()) + 10:
                tally.add_wrong(seed, "auto has more events than others", events)
        tally.check(self)


CHEBYSHEV = {1: "x", 2: "2*x^2 - 1", 3: "4*x^3 - 3*x", 4: "8*x^4 - 8*x^2 + 1", 5: "16*x^5 - 20*x^3 + 5*x",
             7: "64*x^7 - 112*x^5 + 56*x^3 - 7*x"}  # of cos(t): cos(k*t)


class Nested(unittest.TestCase):
    """Deeply nested conditions, as in a loop: each must wait for those inside it, which settle one after another."""

    def draw(self, rng):
        """Text, end, the value at the end, its slope with respect to u, and the error of u at which a condition changes."""
        a, b, start, c, edge, depth, end = (rng.uniform(0.5, 2), rng.uniform(0.2, 1), rng.uniform(0.05, 0.4), rng.uniform(2, 6), rng.uniform(0.4, 0.6),
                                            rng.randint(4, 14), rng.uniform(0.3, 1))
        text = (f"model M\n Real u(start = {start!r}, fixed = true), z, v;\nequation\n der(u) = {a!r}*({b!r} - u); z = {c!r}*(1 + abs(u));\nalgorithm\n"
                f" v := sin(u)*z; for i in 1:{depth} loop if v > {edge!r} then v := v*cos(v); else v := sin(v) + v/2; end if; end for;\nend M;\n")
        u = b + (start - b) * math.exp(-a * end)
        v, slope, nearest = math.sin(u) * c * (1 + u), c * (math.cos(u) * (1 + u) + math.sin(u)), math.inf
        for _ in range(depth):
            nearest = min(nearest, abs((v - edge) / slope))
            v, slope = (v * math.cos(v), slope * (math.cos(v) - v * math.sin(v))) if v > edge else (math.sin(v) + v / 2, slope * (math.cos(v) + 0.5))
        return text, end, v, max(1, abs(slope)), nearest

    def test_ends(self):
        """An error of u is as large as in the other classes; from condition to condition it is multiplied by their slopes."""
        tally, tolerance = runs.Tally("nested"), 1e-8
        for seed in runs.seeds(30):
            text, end, value, slope, nearest = self.draw(random.Random(seed))
            if nearest < 1000 * tolerance: continue
            for solver in runs.by_turns(SOLVERS, seed):
                run = runs.simulate(text, stop_time=end, solver=solver, tolerance=tolerance, intervals=3)
                is_right = lambda: abs(run.end("v") - value) < 1000 * tolerance * slope and run.report["events"] < 1000
                tally.add(run, is_right, seed, solver)
        tally.check(self)


class Together(unittest.TestCase):
    """Several conditions that hold for a short part of their periods. If one becomes true and false again before the event of another one that ends the step, this is an event, too."""

    def draw(self, rng):
        """Text, end, the largest tolerance at which levels are reached, and how often each condition becomes true."""
        waves = [(rng.choice(list(CHEBYSHEV)), rng.choice((1, -1)), 1 - 10 ** rng.uniform(-3.3, -0.7)) for _ in range(rng.randint(2, 4))]
        begins = lambda k, side, level, end: (k * end + math.acos(level)) / (2 * math.pi) + (0.5 if side < 0 else 0)
        end = rng.uniform(40, 60)
        while any(abs((begins(*wave, end) + 0.5) % 1 - 0.5) < 0.02 for wave in waves):
            end += 0.01
        text = "model M\n Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
        rules = " der(x) = v + x*(1 - x^2 - v^2); der(v) = -x + v*(1 - x^2 - v^2);\n"
        for i, (k, side, level) in enumerate(waves):
            text += f" Real a{i}; discrete Integer n{i}(start = 0, fixed = true);\n"
            rules += f" a{i}^3 + a{i} = ({CHEBYSHEV[k]})^3 + {CHEBYSHEV[k]};\n" if rng.random() < 0.4 else f" a{i} = {CHEBYSHEV[k]};\n"
            rules += f" when {side}*a{i} > {level!r} then n{i} = pre(n{i}) + 1; end when;\n"
        largest = min((1 - level) / k**2 for k, _, level in waves) / 30
        return f"{text}equation\n{rules}end M;\n", end, largest, [math.floor(begins(*wave, end)) for wave in waves]

    def test_all_are_found(self):
        tally = runs.Tally("together")
        for seed in runs.seeds(40):
            rng = random.Random(seed)
            text, end, largest, expected = self.draw(rng)
            tolerance = min(10 ** rng.uniform(-9, -5), largest)
            for solver in runs.by_turns(("erk", "radau", "bdf"), seed):
                run = runs.simulate(text, stop_time=end, solver=solver, tolerance=tolerance, intervals=3)
                tally.add(run, lambda: [run.end(f"n{i}") for i in range(len(expected))] == expected, seed, solver, tolerance)
        tally.check(self)


class Quiet(unittest.TestCase):
    def test_far_conditions_cost_no_evaluations(self):
        rng = random.Random(18)
        for _ in range(6):
            w, limit = rng.uniform(1, 5), rng.uniform(50, 500)
            plain = f"model M\n  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\nequation\n  der(x) = {w}*v;\n  der(v) = -{w}*x;\nend M;\n"
            watched = plain.replace("equation", f"  parameter Real limit = {limit};\n  Boolean a = x + 2*v > limit, b = v < -limit;\nequation")
            counts = []
            for text in (plain, watched):
                target = os.path.join(WORK, "quiet.json")
                run, _ = simulate(text, 200.0, "erk", 1e-8, "--json", target)
                self.assertEqual(run.returncode, 0, run.stderr)
                with open(target) as file:
                    counts.append(json.load(file)["residual_evals"])
            self.assertEqual(counts[0], counts[1], watched)

    def test_what_was_far_for_long_is_found(self):
        rng = random.Random(19)
        for solver in SOLVERS:
            for _ in range(4):
                growth, limit = rng.uniform(0.5, 30), 10 ** rng.uniform(2, 8)
                text = (f"model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true);\n  parameter Real limit = {limit!r};\nequation\n"
                        f"  der(x) = {growth!r}*x;\n  der(y) = if x > limit then 1 else 0;\nend M;\n")
                end = 1.2 * math.log(limit) / growth
                run, values = simulate(text, end, solver, 1e-9)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertAlmostEqual(values["y"], end / 6, delta=1e-5 * end, msg=text)


class Periodic(unittest.TestCase):
    """An ideal diode between a source of some sines and a constant voltage. The condition is on an unknown of the loop; its times are known. Events repeat in every period, exactly or
    nearly, depending on the second frequency. A further oscillator keeps the steps shorter
    than a period."""

    def draw(self, rng):
        """Text, end, the excess of the source over the voltage, and its integral divided by the resistance."""
        a, w, p = rng.uniform(1, 20), 10 ** rng.uniform(0, 3), rng.uniform(0, 6)
        b, v, c, r = a * rng.choice((0, 0.2, 0.5)), w * rng.uniform(0.1, 0.9), a * rng.uniform(-0.4, 0.4), 10 ** rng.uniform(-1, 2)
        text = ("model M\n  Real u, i, s, q(start = 0, fixed = true), x(start = 1, fixed = true), y(start = 0, fixed = true);\n"
                f"  Boolean off = s < 0;\nequation\n  der(x) = {w!r}*y;\n  der(y) = -{w!r}*x;\n"
                f"  u = {a!r}*sin({w!r}*time + {p!r}) + {b!r}*cos({v!r}*time);\n  i = if off then 0 else s;\n"
                f"  u - {r!r}*i - ({c!r}) = if off then s else 0;\n  der(q) = i;\nend M;\n")
        beyond, area = (lambda t: a*math.sin(w*t + p) + b*math.cos(v*t) - c), (lambda t: (-a/w*math.cos(w*t + p) + b/v*math.sin(v*t) - c*t) / r)
        return text, rng.uniform(30, 60) / w, beyond, area

    def times(self, run):
        times = [float(row["time"]) for row in csv.DictReader(run.stdout.splitlines())]
        return [t for t, following in zip(times, times[1:]) if t == following and t > 0]

    def test_times_and_charge(self):
        rng = random.Random(21)
        for number in range(24):
            text, end, g, area = self.draw(rng)
            expected = crossings(g, end, 4000)
            charge = sum(area(high) - area(low) for low, high in pieces(g, end, 4000) if g((low + high) / 2) > 0)
            solver, tolerance = SOLVERS[number % len(SOLVERS)], 10 ** rng.uniform(-9, -5)
            run, values = simulate(text, end, solver, tolerance)
            self.assertEqual(run.returncode, 0, run.stderr)
            found = self.times(run)
            self.assertEqual(len(found), len(expected), f"{solver} {tolerance} {text}")
            for t, known in zip(found, expected):
                self.assertAlmostEqual(t, known, delta=1e-11 * end, msg=f"{solver} {tolerance} {text}")
            self.assertAlmostEqual(values["q"] / charge, 1, delta=1e3 * tolerance, msg=f"{solver} {tolerance} {text}")


class Near(unittest.TestCase):
    """Conditions whose largest value during the run is a little below or above their edge."""
    def draw(self, rng):
        """A model with a condition, and its difference from the edge as a function of time."""
        w = [rng.uniform(1, 4), rng.uniform(1, 4)]
        a = [rng.uniform(0.5, 2), rng.uniform(0.5, 2)]
        x, y = (lambda t: a[0]*math.cos(w[0]*t)), (lambda t: a[1]*math.cos(w[1]*t))
        text, g = rng.choice([("x", x), ("x + y", lambda t: x(t) + y(t)), ("x*y", lambda t: x(t)*y(t)), ("exp(x) - y", lambda t: math.exp(x(t)) - y(t)),
                              ("z", lambda t: x(t) + y(t)**3), ("x - 0.3*sin(2*time)", lambda t: x(t) - 0.3*math.sin(2*t))])
        states = f"Real x(start={a[0]!r}, fixed=true), y(start={a[1]!r}, fixed=true), v(start=0, fixed=true), w(start=0, fixed=true), z;"
        equations = f"der(x) = {w[0]!r}*v; der(v) = -{w[0]!r}*x; der(y) = {w[1]!r}*w; der(w) = -{w[1]!r}*y; z = x + y^3;"
        return text, g, states, equations

    def test_edges_that_are_just_reached_or_not(self):
        rng, end, looks = random.Random(20), 12.0, 6000
        for number in range(60):
            text, g, states, equations = self.draw(rng)
            values = [g(0.3 + (end - 0.3)*k/looks) for k in range(looks + 1)]
            spread = max(values) - min(values)
            edge = max(values) + rng.choice([-1, 1])*spread*10**rng.uniform(-3, -1)
            solver = SOLVERS[number % len(SOLVERS)]
            model = (f"model M\n  {states}\n  parameter Real edge = {edge!r};\n  Real held(start=0, fixed=true);\n"
                     f"equation\n  {equations}\n  der(held) = if {text} > edge then 1 else 0;\nend M;\n")
            run, found = simulate(model, end, solver, 1e-9)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertAlmostEqual(found["held"], measure(lambda t: g(t) - edge, end, looks), delta=1e-5, msg=solver + model)


def relays(rng):
    """Up to four relays that lead to zero from both sides, with drives and couplings too small to lead away: all end at rest."""
    n, speed, coupling = rng.randint(1, 4), rng.uniform(0.5, 3), rng.choice([0, 0, 0.2])
    declared, equations = "", ""
    for k in range(n):
        up, down, x = rng.uniform(1, 2), rng.uniform(1, 2), f"x{k}"
        relay = rng.choice([f"-{up}*sign({x})", f"if {x} > 0 then -{down} else {up}", f"if {x} < 0 then {up} else -{down}"])
        drive = f"{rng.uniform(0, 0.4)}*cos({speed}*time) + {coupling}*x{rng.randrange(n)}"
        declared += f" Real {x}(start = {rng.uniform(-1, 1)}, fixed = true);"
        if rng.random() < 0.5:
            declared += f" Real u{k};"
            equations += f" u{k} = {relay}; der({x}) = u{k} + {drive};"
        else:
            equations += f" der({x}) = ({relay}) + {drive};"
    return declared, equations, rng.uniform(4, 8), {f"x{k}": 0 for k in range(n)}, n


def friction(rng):
    """An oscillator with dry friction: each turning point is closer to zero by twice the holding distance, until it is held."""
    stiffness, held, x = rng.uniform(5, 30), rng.uniform(0.1, 0.3), rng.uniform(0.5, 1)
    declared = f" Real x(start = {x}, fixed = true), v(start = 0, fixed = true);"
    equations = f" der(x) = v; der(v) = -{stiffness}*(x + {held}*sign(v));"
    while abs(x) > held:
        x = -(x - math.copysign(2 * held, x))
    return declared, equations, rng.uniform(8, 12), {"x": x, "v": 0}, 1


def blocks(rng):
    """A row of blocks between springs, driven at one end, each with dry friction; returns a function that writes it with a law of friction."""
    n, k, speed, size = rng.randint(2, 3), [rng.uniform(2, 10) for _ in range(4)], rng.uniform(0.5, 2), rng.uniform(0.3, 1.5)
    held, places = [rng.uniform(0.3, 1) for _ in range(n)], [f"{size}*sin({speed}*time)", *[f"x{i}" for i in range(n)], "0"]

    def write(law):
        text = "".join(f" Real x{i}(start = {0.5 * (-1) ** i}, fixed = true), v{i}(start = 0.1, fixed = true);" for i in range(n)) + "\nequation\n"
        for i in range(n):
            forces = f"{k[i]}*({places[i]} - x{i}) + {k[i + 1]}*({places[i + 2]} - x{i})"
            text += f" der(x{i}) = v{i}; der(v{i}) = {forces} - {held[i]}*{law(f'v{i}')};\n"
        return f"model M\n{text}end M;\n"
    return n, write


def held(rng):
    """States held at zero by friction; the load of the first exceeds it for a short part of its period."""
    n, speed, over, starts = rng.randint(1, 3), rng.uniform(0.5, 2), 10 ** rng.uniform(-2, -1), [rng.uniform(0.1, 0.5) for _ in range(3)]

    def write(law):
        text = "".join(f" Real x{k}(start = {starts[k]}, fixed = true), z{k}(start = 0, fixed = true);" for k in range(n)) + "\nequation\n"
        for k in range(n):
            text += f" der(x{k}) = {0.5 if k else 1 + over}*sin({speed}*time) - {law(f'x{k}')}; der(z{k}) = x{k};\n"
        return f"model M\n{text}end M;\n"
    return n, write


class Chattering(unittest.TestCase):
    """Solutions that stay on edges: the work is bounded, and a warning says how far from the edge they are because of hysteresis."""

    def check(self, seed, make, solver, *options):
        declared, equations, end, expected, modes = make(random.Random(seed))
        text = f"model M\n{declared}\nequation\n{equations}\nend M;\n"
        with self.subTest(seed=seed, make=make.__name__, solver=solver, options=options):
            run, values, statistics = report(text, end, solver, 1e-6, *options)
            self.assertEqual(run.returncode, 0, run.stderr + text)
            self.assertLess(statistics["events"], 5000 * modes, text)  # 1000 events, and 100 more for each doubling of the hysteresis
            self.assertLess(len(run.stdout.splitlines()), 2 * statistics["events"] + 8)
            said = " ".join(told["message"] for told in statistics["diagnostics"])
            band = max([float(grown) for grown in re.findall(r"grew to ([-+.e0-9]*\d)", said)], default=0)
            for name, value in expected.items():
                self.assertLess(abs(values[name] - value), 2 * band * (end if name == "x" else 1) + 1e-4, text + said)

    def test_work_is_bounded(self):
        for seed in runs.seeds(18):
            self.check(seed, (relays, relays, friction)[seed % 3], SOLVERS[seed % len(SOLVERS)])

    @unittest.skipIf(runs.SANITIZED, "thousands of events by ranks take too long there")
    def test_methods(self):
        for seed in runs.seeds(6):
            for method in ("strangeness", "none"):
                self.check(seed, (relays, friction)[seed % 2], ("auto", "radau", "bdf")[seed % 3], "--method", method)

    def test_filtered_relays(self):
        """The effect of a relay is delayed: the ratio of successive cycles approaches 1, so that they neither end nor accumulate."""
        for seed in runs.seeds(12):
            rng = random.Random(f"filtered {seed}")
            start, drive, speed, delay = rng.uniform(0.1, 1), rng.uniform(0.05, 0.8), rng.uniform(0.5, 4), 10**rng.uniform(-3, -1.5)
            text = (f"model M\n  Real x(start = {start!r}, fixed = true), f(start = 0, fixed = true);\nequation\n"
                    f"  der(x) = -f + {drive!r}*sin({speed!r}*time);\n  {delay!r}*der(f) = (if x > 0 then 1 else -1) - f;\nend M;\n")
            for solver, tolerance in zip(runs.by_turns(SOLVERS, seed), (1e-6, 1e-4, 1e-3) * 2):
                with self.subTest(seed=seed, solver=solver, tolerance=tolerance):
                    run, values, statistics = report(text, 5.0, solver, tolerance)
                    self.assertEqual(run.returncode, 0, run.stderr + text)
                    self.assertLess(statistics["events"], 10000, text)
                    self.assertLess(abs(values["x"]), 0.01, text)

    def test_kicks(self):
        """At some time, a sliding variable or its edge is reset: the solution returns to the edge as from anywhere."""
        for seed in runs.seeds(12):
            rng = random.Random(seed)
            down, up, when, kick = rng.uniform(1, 3), rng.uniform(1, 3), rng.uniform(1.5, 2), rng.choice([-1, 1]) * rng.uniform(0.5, 2)
            edge = seed % 3 == 2
            action = f"reinit(s, {-kick!r})" if edge else f"reinit(v, {kick!r})"
            text = (f"model M\n  Real v(start = 0.5, fixed = true), s(start = 0, fixed = true), x(start = 0, fixed = true);\nequation\n"
                    f"  der(v) = if v > s then {-down!r} else {up!r};\n  der(s) = 0;\n  der(x) = v - s;\n"
                    f"  when {('time > ' + repr(when)) if seed % 2 else f'sample({when!r}, 10)'} then\n    {action};\n  end when;\nend M;\n")
            area = 0.125 / down + kick * abs(kick) / 2 / (down if kick > 0 else up)
            solver = SOLVERS[seed % len(SOLVERS)]
            with self.subTest(seed=seed, solver=solver):
                run, values, _ = report(text, 5.0, solver, 1e-7)
                self.assertEqual(run.returncode, 0, run.stderr + text)
                self.assertLess(abs(values["v"] - values["s"]), 1e-5, text)
                self.assertLess(abs(values["x"] - area), 1e-4, text)

    def test_branches_that_meet(self):
        """Two nodes that charge to the same voltage, with a diode between them: at rest round-off decides the direction of its current."""
        for seed in runs.seeds(6):
            rng = random.Random(seed)
            c, r = [10 ** rng.uniform(-6.5, -4.5) for _ in range(2)], [10 ** rng.uniform(1, 2.5) for _ in range(2)]
            text = (f"model M\n  Real v1(start = 0, fixed = true), v2(start = 0, fixed = true), i;\nequation\n"
                    f"  {c[0]}*der(v1) = (1 - v1)/{r[0]} - i;\n  {c[1]}*der(v2) = (1 - v2)/{r[1]} + i;\n"
                    f"  i = if v1 - v2 > 0 then (v1 - v2)/0.01 else (v1 - v2)*1e-5;\nend M;\n")
            for solver in SOLVERS:
                if solver == "erk":
                    continue  # a conducting diode is stiff
                with self.subTest(seed=seed, solver=solver):
                    run, values, statistics = report(text, 1.0, solver, 1e-6)
                    self.assertEqual(run.returncode, 0, run.stderr + text)
                    self.assertLess(statistics["events"], 5000, text)
                    self.assertLess(abs(values["v1"] - 1) + abs(values["v2"] - 1), 1e-5, text)

    def test_several_edges_at_once(self):
        """Relays whose effects add up, coupled or not, slide along all their edges, with one event each where they arrive."""
        for seed in runs.seeds(8):
            declared, equations, end, expected, modes = relays(random.Random(seed))
            with self.subTest(seed=seed):
                run, values, statistics = report(f"model M\n{declared}\nequation\n{equations}\nend M;\n", end, "auto", 1e-6)
                self.assertEqual((run.returncode, run.stderr, statistics["diagnostics"]), (0, "", []))
                self.assertLessEqual(statistics["events"], 3 * modes, equations)
                for name, value in expected.items():
                    self.assertAlmostEqual(values[name], value, delta=1e-9)

    def test_blocks_that_stick_and_slip(self):
        """The motion is compared with the motion under friction that rises steeply but smoothly. Several conditions at one edge count as one."""
        laws = ["sign({0})", "(if {0} > 0 then 1 elseif {0} < 0 then -1 else 0)", "(if {0} > 0 then 1 elseif -{0} > 0 then -1 else 0)"]
        for seed in runs.seeds(9):
            n, write = blocks(random.Random(seed))
            with self.subTest(seed=seed):
                run, values, statistics = report(write(laws[seed % 3].format), 8.0, "auto", 1e-8)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                self.assertLess(statistics["events"], 100)
                _, smooth = simulate(write(lambda v: f"tanh({v}/1e-5)"), 8.0, "radau", 1e-8)
                for i in range(n):
                    self.assertAlmostEqual(values[f"x{i}"], smooth[f"x{i}"], delta=1e-4)

    def test_edges_left_within_a_step(self):
        """A load that exceeds the holding force only for a short time, compared with friction that rises steeply but smoothly."""
        for seed in runs.seeds(8):
            n, write = held(random.Random(seed))
            with self.subTest(seed=seed):
                run, values, statistics = report(write(lambda v: f"sign({v})"), 8.0, "auto", 1e-8)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                _, smooth = simulate(write(lambda v: f"tanh({v}/1e-6)"), 8.0, "radau", 1e-9)
                for k in range(n):
                    self.assertAlmostEqual(values[f"z{k}"], smooth[f"z{k}"], delta=3e-5)

    def test_conditions_that_rest_on_their_edges(self):
        """Solutions reach an edge from one side and stay on it. The relation says what holds on the edge, and what holds after the solution leaves it."""
        for seed in runs.seeds(15):
            rng = random.Random(seed)
            edge, slow, speed = rng.uniform(-0.5, 0.5), rng.uniform(0.2, 0.8), rng.uniform(1, 3)
            text, sign = rng.choice([(f"max(x, {edge}) > {edge}", 1), (f"min(-x, {-edge}) < {-edge}", 1), (f"max(x, {edge}) <= {edge}", 0),
                                     (f"abs(x - ({edge})) + x - ({edge}) > 0", 1), (f"{edge} < u", 1)])
            fast, rest = ("1", f"{slow}") if sign else (f"{slow}", "1")
            text = (f"model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true), u;\nequation\n  der(x) = -{speed}*sin({speed}*time);\n"
                    f"  u = max(x, {edge});\n  der(y) = if {text} then {fast} else {rest};\nend M;\n")
            end = rng.uniform(2, 4) * math.pi / speed
            above = measure(lambda t: math.cos(speed * t) - edge, end)
            with self.subTest(seed=seed):
                run, values, statistics = report(text, end, SOLVERS[seed % len(SOLVERS)], 1e-8)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                self.assertAlmostEqual(values["y"], above + slow * (end - above), delta=1e-5, msg=text)

    def test_pendulums_that_get_stuck(self):
        """Friction by a velocity that an equation gives from derivatives of coordinates on a circle, compared with the angle."""
        for seed in runs.seeds(5):
            rng = random.Random(seed)
            rubs, angle = rng.uniform(0.5, 2), rng.uniform(0.5, 1.2)
            text = (f"model M\n  Real x(start = {math.sin(angle)}, fixed = true), y(start = {-math.cos(angle)}), vx(start = 0, fixed = true), vy, l, w;\n"
                    f"equation\n  der(x) = vx; der(y) = vy; w = x*vy - y*vx;\n  der(vx) = -l*x + y*{rubs}*sign(w);\n"
                    f"  der(vy) = -l*y - 9.81 - x*{rubs}*sign(w);\n  x^2 + y^2 = 1;\nend M;\n")
            plain = (f"model M\n  Real a(start = {angle}, fixed = true), w(start = 0, fixed = true), x = sin(a);\nequation\n"
                     f"  der(a) = w; der(w) = -9.81*sin(a) - {rubs}*sign(w);\nend M;\n")
            with self.subTest(seed=seed):
                run, values, statistics = report(text, 10.0, "auto", 1e-8)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                _, expected = simulate(plain, 10.0, "auto", 1e-8)
                self.assertAlmostEqual(values["x"], expected["x"], delta=1e-5)

    def test_other_conditions_are_passed(self):
        """A solution that slides along a wave passes levels on its way: each time once, in all states of the relay."""
        for seed in runs.seeds(10):
            rng = random.Random(seed)
            size, speed, level, end = rng.uniform(0.2, 0.5), rng.uniform(0.5, 2), rng.uniform(0.05, 0.15), rng.uniform(8, 12)
            text = (f"model M\n  Real x(start = 0, fixed = true), z(start = 1, fixed = true);\n  Integer n(start = 0, fixed = true);\nequation\n"
                    f"  der(x) = -{rng.uniform(1.5, 2)}*sign(x - {size}*sin({speed}*time));\n  der(z) = 0;\n"
                    f"  when x > {level} then\n    n = pre(n) + 1;\n    reinit(z, 2*pre(z));\n  end when;\nend M;\n")
            times = math.floor((speed * end - math.asin(level / size)) / (2 * math.pi)) + 1
            with self.subTest(seed=seed):
                run, values, statistics = report(text, end, SOLVERS[seed % len(SOLVERS)], 1e-8)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                self.assertEqual((values["n"], values["z"]), (times, 2 ** times), text)

    def test_events_of_others(self):
        """Sliding continues where something else is reset, with every solver."""
        for seed in runs.seeds(10):
            rng = random.Random(seed)
            declared, equations, end, expected, modes = relays(rng)
            declared += " Real w(start = 1, fixed = true);"
            equations += f" der(w) = -0.1*w; when sample({rng.uniform(1, 2)}, {rng.uniform(0.5, 1.5)}) then reinit(w, {rng.uniform(-1, 1)}); end when;"
            with self.subTest(seed=seed):
                run, values, statistics = report(f"model M\n{declared}\nequation\n{equations}\nend M;\n", end, SOLVERS[seed % len(SOLVERS)], 1e-6)
                self.assertEqual((run.returncode, statistics["diagnostics"]), (0, []))
                for name, value in expected.items():
                    self.assertAlmostEqual(values[name], value, delta=1e-6)


def thermostat(rng, width):
    """A thermostat that heats below `low` and stops above `low` + width: the text of the model, the end, the edges, and how often it stops heating."""
    k, low, heat = rng.uniform(0.5, 2), rng.uniform(0.2, 0.8), rng.uniform(2.5, 5)
    high, top, scale = low + width, heat / k, rng.choice((1, 1, 1e3, 1e-3))
    warm, cool = math.log((top - low) / (top - high)) / k, math.log(high / low) / k
    cycles = rng.randint(1200, 2000) + 0.5 * warm / (warm + cool)
    over, under = rng.choice([(f"T > {high}", f"T < {low}"), (f"{scale}*(T - {high}) > 0", f"T < {low}"), (f"T > {high}", f"{low * scale} > {scale}*T")])
    law = rng.choice([f"when {over} then on = false; n = pre(n) + 1; elsewhen {under} then on = true; n = pre(n); end when;",
                      f"on = if pre(on) then not ({over}) else {under}; when not on then n = pre(n) + 1; end when;",
                      f"on = pre(on) and not ({over}) or {under}; when not on then n = pre(n) + 1; end when;"])
    text = (f"model M\n  Real T(start = {low}, fixed = true);\n  Boolean on(start = true, fixed = true);\n"
            f"  Integer n(start = 0, fixed = true);\nequation\n  der(T) = -{k}*T + (if on then {heat} else 0);\n  {law}\nend M;\n")
    return text, cycles * (warm + cool), low, high, math.ceil(cycles)


class Staircases(unittest.TestCase):
    """Relays with their own hysteresis, narrower or wider than the tolerance: they never get stuck on one side, and every cycle is counted unless the hysteresis is much narrower."""

    def test_every_step_is_an_event(self):
        tally = runs.Tally("staircases")
        for seed in runs.seeds(200, quick=18):
            rng = random.Random(seed)
            rate, factor, kind = rng.choice([1, -1, 0.5]), rng.choice([10, 40, 300]) * rng.uniform(0.9, 1.1), rng.choice(["integer", "floor", "ceil"])
            text = (f"model M\n  Real x(start = 0.001, fixed = true), y(start = 1, fixed = true); Real k = {kind}({factor!r}*x);\n  Integer n(start = 0, fixed = true);\nequation\n"
                    f"  der(x) = {rate}*y; der(y) = {rng.choice(['0', '-y'])};\n  when change(k) then n = pre(n) + 1; end when;\nend M;\n")
            end = 0.001 + rate * (1 if "der(y) = 0" in text else 1 - math.exp(-1))
            levels = {end_: (math.ceil if kind == "ceil" else math.floor)(factor * end_) for end_ in (0.001, end)}
            run = runs.simulate(text, solver=SOLVERS[seed % len(SOLVERS)], stop_time=1, intervals=5, tolerance=1e-8)
            is_near = abs(factor * end - round(factor * end)) < 1e-2
            tally.add(run, lambda run=run, levels=levels, end=end, is_near=is_near: "stays at the edge" not in run.words and (is_near or run.end("n") == abs(levels[end] - levels[0.001]) and run.end("k") == levels[end]), seed, levels, text, run.words)
        tally.check(self)


class Thermostats(unittest.TestCase):
    """Relays with their own hysteresis, narrower or wider than the tolerance: they never get stuck on one side, and every cycle is counted
    unless the hysteresis is much narrower."""

    def check(self, seed, width, tolerance):
        text, end, low, high, count = thermostat(random.Random(seed), width)
        run, values, statistics = report(text, end, SOLVERS[seed % len(SOLVERS)], tolerance)
        self.assertEqual(run.returncode, 0, run.stderr + text)
        said = " ".join(told["message"] for told in statistics["diagnostics"])
        band = max([float(grown) for grown in re.findall(r"grew to ([-+.e0-9]*\d)", said)], default=tolerance)
        self.assertGreater(values["T"], low - 2 * band, text)
        self.assertLess(values["T"], high + 2 * band, text)
        return values["n"], count, said, text

    def test_all_cycles_are_counted(self):
        for seed in runs.seeds(18):
            rng = random.Random(seed)
            tolerance = 10 ** rng.uniform(-6, -2)
            width = tolerance * 10 ** rng.uniform(-1.5, 0.5)
            with self.subTest(seed=seed):
                found, count, said, text = self.check(seed, width, tolerance)
                self.assertEqual(said, "", text)
                # steps within a cycle may be off by the tolerance, too
                self.assertLess(abs(found - count), 1.5 + 0.2 * count, text)

    def test_none_gets_stuck(self):
        for seed in runs.seeds(18):
            rng = random.Random(seed)
            with self.subTest(seed=seed):
                tolerance = 10 ** rng.uniform(-6, -2)
                self.check(seed, tolerance * 10 ** rng.uniform(-4, -2), tolerance)

    def test_noise_is_no_cycle(self):
        """The error of a stiff state toggles the condition of a `when`, and nothing else separates its events."""
        for seed in runs.seeds(6):
            rng = random.Random(seed)
            stiff, w, edge = 10 ** rng.uniform(4.5, 5.5), rng.uniform(1, 6), rng.uniform(-0.5, 0.5)
            text = (f"model M\n  Real x(start = 0, fixed = true), f(start = 1, fixed = true), y;\n  Integer n(start = 0, fixed = true);\nequation\n"
                    f"  der(f) = -{stiff}*(f - sin({w}*time));\n  y = f - {rng.uniform(0.1, 0.5)}*x^2;\n  der(x) = -x + (if y > {rng.uniform(0.6, 0.9)} then 1 else -1);\n"
                    f"  when y > {edge} then n = pre(n) + 1; end when;\nend M;\n")
            with self.subTest(seed=seed):
                run, values, statistics = report(text, 1.0, "erk", 10 ** rng.uniform(-3.5, -2))
                self.assertEqual(run.returncode, 0, run.stderr + text)
                self.assertLess(values["n"], 30, text)


class Chains(unittest.TestCase):
    """Conditions that depend on each other change one after another, however many there are; endless changes are reported."""

    BEGIN = "model M\n  Real x(start = {start}, fixed = true);\n  {declaration}\nequation\n  der(x) = 1;\n"
    KINDS = {  # declaration, first equation, equation i, the value of each at the end
        "pre": ("Boolean b[{n}](each start = false, each fixed = true);", "b[1] = x > 0.5;", "b[{i}] = pre(b[{i} - 1]);", lambda i: 1),
        "when": ("Boolean b[{n}](each start = false, each fixed = true);", "when x > 0.5 then b[1] = true; end when;", "when b[{i} - 1] then b[{i}] = true; end when;", lambda i: 1),
        "if": ("Real b[{n}];", "b[1] = if x > 0.5 then 1 else 0;", "b[{i}] = if b[{i} - 1] > 0.5 and b[{i} - 1] < 2 then b[{i} - 1] + 0.0001 else -b[{i} - 1];", lambda i: 1 + 0.0001 * i),
        "solved": ("Real b[{n}];", "b[1] = x;", "b[{i}] + 0.1*sin(b[{i}]) = if b[{i} - 1] > 0.5 and b[{i} - 1] < 2 then 1.0841470984807897 else 0;", lambda i: 1),
    }

    def run_model(self, text):
        path, out = os.path.join(WORK, "chain.mo"), os.path.join(WORK, "chain.csv")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([DAEDAL, "simulate", path, "--stop-time", "0.8", "--intervals", "4", "-q", "-o", out], capture_output=True, text=True)
        with open(out, newline="") as file:
            return done, list(csv.DictReader(file))[-1]

    def test_chains_end(self):
        for seed, (kind, (declaration, first, each, value)) in enumerate(self.KINDS.items()):
            rng = random.Random(seed)
            for start in (0, 0.6):
                n = rng.randint(60, 1500 if start == 0 else 150)
                equations = "".join("  " + each.format(i=i) + "\n" for i in range(2, n + 1))
                text = self.BEGIN.format(start=start, declaration=declaration.format(n=n)) + f"  {first}\n{equations}end M;\n"
                with self.subTest(kind=kind, n=n, start=start):
                    done, last = self.run_model(text)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if kind != "when" or start == 0:  # a when does not act if its condition holds from the start
                        for i in range(2, n + 1):
                            self.assertAlmostEqual(float(last[f"b[{i}]"]), value(i - 1), 6)

    def test_rings_do_not_end(self):
        for n in (1, 2, 7, 300):
            declaration = f"Boolean b[{n}](each start = false, each fixed = true); Integer k(start = 0, fixed = true);"
            ring = "".join(f"  b[{i}] = pre(b[{i - 1}]);\n" for i in range(2, n + 1))
            for equations in (f"  b[1] = x > 0.5 and not pre(b[{n}]);\n{ring}  k = 0;\n", f"  b[1] = x > 0.5;\n{ring}  k = if x > 0.5 then pre(k) + 1 else 0;\n"):
                with self.subTest(n=n):
                    done, last = self.run_model(self.BEGIN.format(start=0, declaration=declaration) + equations + "end M;\n")
                    self.assertEqual(done.returncode, 6)
                    self.assertIn("D602", done.stderr)
                    self.assertAlmostEqual(float(last["time"]), 0.5, 6)


class Undefined(unittest.TestCase):
    """Undefined conditions belong to branches that are not taken, and hide no event of others. If their value matters, the run
    ends with a message that names them."""

    GUARDS = ("if g then (if {c} then 1 else 0) else 0", "if g and {c} then 1 else 0", "if not (not g or not {c}) then 1 else 0",
              "if not g then 0 elseif {c} then 1 else 0", "if noEvent(g and {c}) then 1 else 0")
    ROOTS = (("sqrt(x)", math.sqrt), ("log(x)", math.log), ("log(x + 0.001)", lambda x: math.log(x + 0.001)), ("x^0.3", lambda x: x**0.3), ("asin(1 - x)/2", lambda x: math.asin(1 - x) / 2))

    def run_model(self, text, solver):
        path, out = os.path.join(WORK, "undefined.mo"), os.path.join(WORK, "undefined.csv")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([DAEDAL, "simulate", path, "--stop-time", "2", "-q", "-o", out, "--solver", solver], capture_output=True, text=True)
        with open(out, newline="") as file:
            return done, list(csv.DictReader(file))

    def test_guarded(self):
        """x is 1 - time or time - 1: for half of the run a condition is undefined, and z stops at an edge in that time."""
        for seed in runs.seeds(12):
            rng = random.Random(seed)
            (root, value), falls, x = rng.choice(self.ROOTS), rng.random() < 0.5, rng.uniform(0.1, 0.9)
            edge, stops, guard = value(x), rng.uniform(0.1, 1.9), rng.choice(self.GUARDS)
            text = (f"model M\n  Real x(start = {1 if falls else -1}, fixed = true), z(start = 0, fixed = true), y;\n  Integer k(start = 0, fixed = true);\n  Boolean g = x > 0;\nequation\n"
                    f"  der(x) = {-1 if falls else 1};\n  der(z) = if z > {stops} then 0 else 1;\n  when z > {stops / 2} then k = 7; end when;\n"
                    f"  y = {guard.format(c=f'{root} > {edge}')};\nend M;\n")
            for solver in SOLVERS[1:]:
                with self.subTest(seed=seed, solver=solver):
                    done, rows = self.run_model(text, solver)
                    self.assertEqual(done.returncode, 0, done.stderr + text)
                    self.assertAlmostEqual(float(rows[-1]["z"]), stops, 6, text)
                    self.assertEqual(float(rows[-1]["k"]), 7, text)
                    for row in rows:
                        x_now = float(row["x"])
                        if abs(x_now) > 1e-3 and abs(x_now - x) > 1e-3:
                            self.assertEqual(float(row["y"]), x_now > 0 and value(x_now) > edge, text)

    def test_in_use(self):
        for seed in runs.seeds(8):
            rng = random.Random(seed)
            root, start = rng.choice(self.ROOTS)[0], rng.choice((1, -1))
            use = rng.choice(("y = if {c} then 1 else 0;", "y = 0; assert({c}, \"no\");", "when {c} then y = 1; end when;", "y = if (if {c} then 1 + x^2 else -1 - x^2) > 0.2 then 1 else 0;"))
            text = (f"model M\n  Real x(start = {start}, fixed = true), y;\nequation\n  der(x) = -1;\n  {use.format(c=f'{root} > -99')}\nend M;\n")
            for solver in SOLVERS[1:]:
                with self.subTest(seed=seed, solver=solver):
                    done, rows = self.run_model(text, solver)
                    self.assertEqual(done.returncode, 6, done.stderr + text)
                    self.assertIn("is not defined", done.stderr)
                    if start > 0:
                        self.assertLessEqual(float(rows[-1]["time"]), 1 + 1e-6)


class Bounds(unittest.TestCase):
    def test_plots_mark_events(self):
        """Ticks are evenly spaced, and as many as requested: at the axis of the text plot and in the picture."""
        for count in (0, 1, 4, 9):
            text = (f"model M\n  Real x(start = 0, fixed = true);\n  Integer n(start = 0, fixed = true);\nequation\n  der(x) = 1;\n"
                    f"  when sample(0.03, {1 / count if count else 9}) then\n    n = pre(n) + 1;\n  end when;\nend M;\n")
            text = text.replace("sample(0.03", "sample(0.03" if count else "sample(7")
            plot = self.told(text, "--plot", "-", "--variables", "x", "--stop-time", "1").stdout
            self.assertEqual(plot.count("╹") + plot.count("┻"), count, plot)
            picture = os.path.join(WORK, "marks.svg")
            self.told(text, "--plot", picture, "--variables", "x", "--stop-time", "1")
            with open(picture) as file:
                found = file.read()
            self.assertEqual("<title>events</title>" in found, count > 0)

    def told(self, text, *options):
        path = os.path.join(WORK, "told.mo")
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run([DAEDAL, "simulate", path, "-v", "--output-file", os.path.join(WORK, "told.csv"), *options],
                              capture_output=True, text=True)


class Assertions(unittest.TestCase):
    """A column on which no rate depends, a root of something that changes fast: inside steps the method's values may be arbitrary,
    but the reported value is right."""

    MODEL = """model M
  Real x(start = {start}, fixed = true), h, T;
equation
  der(x) = {rate}*({drive} - x);
  h = {level} + cos({wave})^{power};
  T = h^0.25;
  assert(noEvent(T > {low} and T < {high}), "T = " + String(T));
end M;
"""

    def test_are_about_the_solution(self):
        for seed in runs.seeds(200, 12):
            pick = random.Random(f"assertions {seed}")
            depth, fast = pick.uniform(0.005, 0.05), pick.uniform(1, 9)
            values = {"start": pick.uniform(0, 2), "rate": pick.uniform(1, 50), "drive": f"cos({pick.uniform(0.5, 2)}*time)", "power": pick.choice((1, 3)), "level": 1 + depth,
                      "wave": pick.choice((f"{fast}*time", f"{fast}*x")), "high": 1.5}
            for solver in runs.by_turns(SOLVERS, seed):
                for low, fine in ((0.7 * depth**0.25, True), (1.2, False)):
                    with open(os.path.join(WORK, "assert.mo"), "w", encoding="utf-8") as file:
                        file.write(self.MODEL.format(low=low, **values))
                    done = subprocess.run([DAEDAL, "simulate", "assert.mo", "--quiet", "--solver", solver, "--stop-time", "20", "--intervals", "2", "--output-file",
                                           "assert.csv"], cwd=WORK, capture_output=True, text=True)
                    self.assertIn(done.returncode, (0,) if fine else (5, 6), f"seed {seed}, {solver}, {low}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
