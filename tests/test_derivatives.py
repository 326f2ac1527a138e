"""Derivatives of generated models against closed forms, by sensitivities and by the adjoint: conditions that change at one time,
jumps without events, and derivatives that need shorter steps than the solution.

DAEDAL_TEST_TIER=long makes hundreds of members of each class."""
import json
import math
import os
import random
import unittest

import varied_models
from varied_models import WORK

SOLVERS = ("auto", "radau", "bdf", "erk", "ida", "cvode")
FUNCTIONS = """
  function step input Real u; output Real y; algorithm if u > 1 then y := 1; else y := 0; end if; end step;
  function whole input Real u; output Real y; algorithm y := floor(u); end whole;
  function counted input Real u; output Real y; algorithm y := 0; for i in 1:3 loop if u > i then y := y + 1; end if; end for; end counted;
  function looped input Real u; output Real y; algorithm y := 0; while y + 1 < u loop y := y + 1; end while; end looped;
"""
COUNT = 200 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 6


def run(model, *options, status=0, tolerance="1e-9"):
    said = varied_models.simulate(model, "--json", str(WORK / "o.json"), "--tolerance", tolerance, "--intervals", "1", *options, status=status)
    return said if status else json.loads((WORK / "o.json").read_text())


class Members(unittest.TestCase):
    def check(self, model, expected, stop, accuracy=1e-6):
        """expected: for signals, the derivatives with respect to targets."""
        targets = sorted({target for by in expected.values() for target in by})
        final = run(model, "--stop-time", str(stop), "--sensitivity", ",".join(targets))["final"]
        for name, by in expected.items():
            gradient = run(model, "--stop-time", str(stop), "--gradient", name, "--gradient-by", ",".join(targets))["gradient"]["derivatives"]
            size = max([1, *map(abs, by.values())])
            for target, value in by.items():
                self.assertLessEqual(abs(final[f"der({name}, {target})"] - value), accuracy * size, (name, target, model))
                self.assertLessEqual(abs(gradient[target] - value), accuracy * size, (name, target, "gradient", model))

    def differ(self, model, name, by, stop, solver, accuracy=1e-6):
        """Compares the derivatives of one solver."""
        targets = ",".join(by)
        final = run(model, "--stop-time", str(stop), "--solver", solver, "--sensitivity", targets)["final"]
        gradient = run(model, "--stop-time", str(stop), "--solver", solver, "--gradient", name, "--gradient-by", targets)["gradient"]["derivatives"]
        size = max([1, *map(abs, by.values())])
        for target, value in by.items():
            self.assertLessEqual(abs(final[f"der({name}, {target})"] - value), accuracy * size, (solver, target, model))
            self.assertLessEqual(abs(gradient[target] - value), accuracy * size, (solver, target, "gradient", model))

    def refused(self, model, targets, name, stop, *words):
        for options in (("--sensitivity", targets), ("--gradient", name, "--gradient-by", targets)):
            said = run(model, "--stop-time", str(stop), *options, status=6)
            for word in words:
                self.assertIn(word, said, model)

    def test_steps(self):
        """Steps of the right-hand side, by time or by a state; several begin at one time."""
        draw = random.Random(1)
        for _ in range(COUNT):
            k, count = draw.choice((0, 0.3, 1.5)), draw.randint(2, 5)
            steps = [(draw.choice((0.5, 1, 1.5)), draw.choice((-3, -1, 2, 0.7)), draw.random() < 0.5) for _ in range(count)]
            lines, declared, by = [], [], {}
            for i, (t, jump, is_timed) in enumerate(steps):
                effect = jump * math.exp(-k * (2 - t))
                declared.append(f"parameter Real p{i} = {t}; " + ("" if is_timed else f"Real s{i}(start = 0, fixed = true);"))
                if not is_timed:
                    lines.append(f"der(s{i}) = 1/p{i};")
                by[f"p{i}"] = -effect
            terms = " + ".join(f"(if {'time > p' + str(i) if is_timed else 's' + str(i) + ' > 1'} then {jump} else 0)"
                               for i, (_, jump, is_timed) in enumerate(steps))
            self.check(f"model M {' '.join(declared)} Real x(start = 0, fixed = true); equation {' '.join(lines)} "
                       f"der(x) = -{k}*x + {terms}; end M;", {"x": by}, 2)

    def test_balls(self):
        """Independent balls, some of them equal."""
        draw, g = random.Random(2), 10
        for _ in range(COUNT):
            heights = [draw.choice((1.25, 0.8)) for _ in range(draw.randint(2, 4))]
            e = draw.choice((0.5, 0.9))
            text = "model M " + " ".join(f"parameter Real h{i} = {h}; Real x{i}(start = h{i}, fixed = true), v{i}(start = 0, fixed = true);"
                                         for i, h in enumerate(heights)) + " equation "
            expected = {}
            for i, h in enumerate(heights):
                text += f"der(x{i}) = v{i}; der(v{i}) = -{g}; when x{i} < 0 then reinit(v{i}, -{e}*pre(v{i})); end when; "
                # behind the first bounce x = e v0 s - g s^2/2, s = t - v0/g, v0 = sqrt(2 g h)
                v0 = math.sqrt(2 * g * h)
                s, slope = 0.6 - v0 / g, g / v0
                expected[f"x{i}"] = {f"h{j}": slope * (e * s - (e * v0 - g * s) / g) if j == i else 0 for j in range(len(heights))}
            self.check(text + "end M;", expected, 0.6)

    def test_ticks(self):
        """A condition on a state that changes at the time of a sample, which reads another variable."""
        draw = random.Random(3)
        for _ in range(COUNT):
            jump, gain, at = draw.choice((-2, 1, 3)), draw.choice((0.5, -1)), draw.choice((1, 2))
            text = f"""model M parameter Real p = 1; Real x(start = 0, fixed = true), z(start = 0, fixed = true);
              discrete Real s(start = 0, fixed = true);
            equation
              der(x) = p; der(z) = (if x > {at}/2 then {jump} else 0) + s;
              when sample(0.5, 0.5) then s = pre(s) + {gain}*x; end when;
            end M;"""
            self.check(text, {"z": {"p": jump * at / 2 + gain * (0.25 + 0.75 + 0.2 * 3), "x.start": jump + gain * (0.5 + 1 + 0.2 * 3)}}, 1.7)

    def test_order_matters(self):
        """The effect of both is not the sum of the effects of each."""
        draw = random.Random(4)
        for _ in range(COUNT):
            first, second = draw.choice((("time > p", "time > q"), ("time > p", "s > q"), ("s > p", "s*s > q")))
            both = draw.choice((f"if {first} and {second} then 1 else 0", f"if {first} or {second} then 1 else 0",
                                f"(if {first} then 2 else 1)*(if {second} then 3 else 1)"))
            self.refused(f"model M parameter Real p = 1, q = 1; Real s(start = 0, fixed = true), x(start = 0, fixed = true); equation "
                         f"der(s) = 1; der(x) = {both}; end M;", "p,q", "x", 2, "at time 1", " and ", "order makes a difference")

    def test_pre_in_rates(self):
        """After an event pre(k) is k, in rates, too."""
        draw = random.Random(14)
        kinds = (("Integer", "pre(k) + 2", "pre(k)", 1, 3), ("discrete Real", "pre(k)*2 + 1", "pre(k)^2", 2, 25), ("Boolean", "not pre(k)", "(if pre(k) then 3 else -1)", "true", -1))
        for _ in range(COUNT):
            (kind, after, rate, start, then), at, factor = draw.choice(kinds), draw.choice((0.5, 0.8, 1.1)), draw.choice((-2, 1, 3))
            first = {"Integer": 1, "discrete Real": 4, "Boolean": 3}[kind]
            gate, low, high = draw.choice((("1", 1, 1), (f"(if x > {at} then 2 else 3)", 3, 2), (f"(if x > {at} then 1 else 0)", 0, 1)))
            text = f"""model M parameter Real p = 1; Real x(start = 0, fixed = true), z(start = 0, fixed = true); {kind} k(start = {start}, fixed = true); equation
              der(x) = p; der(z) = {factor}*{rate}*{gate}; when x > {at} then k = {after}; end when; end M;"""
            self.check(text, {"z": {"p": factor * (then * high - first * low) * at}}, 2)

    def test_one_condition_twice(self):
        """Conditions that are equal for all parameter values change together."""
        text = """model M parameter Real p = 1; Real x(start = 0, fixed = true), z(start = 0, fixed = true); equation
          der(x) = p; der(z) = if x > 1 and 2*x > 2 and x*x > 1 then 4 else 0; end M;"""
        self.check(text, {"z": {"p": 4}}, 2)

    # ---- jumps without events: x = p t passes c at t = c/p, which moves by -c/p^2 ----

    def test_jumps_without_events(self):
        """Branches in noEvent and in functions, and other values that jump there."""
        draw = random.Random(5)
        kinds = (("if noEvent({x} > {c}) then {j} else 0", None), ("noEvent(if {x} > {c} then {j} else 0)", None),
                 ("if noEvent({c} > {x}) then 0 else {j}", None), ("{j}*step({x}/{c})", None),
                 ("{j}*noEvent(if {x} > {c} and {x} > {c} - 1 then 1 else 0)", None), ("{j}/2*noEvent(sign({x} - {c}))", None),
                 ("{j}*noEvent(floor({x}/{c}))", range(1, 5)), ("{j}*whole({x}/{c})", range(1, 5)), ("{j}*counted({x}/{c})", range(1, 4)))
        for member in range(COUNT):
            k, terms, by = draw.choice((0, 0.4, 2)), [], 0
            for kind, times in draw.sample(kinds, 2):
                c, j = draw.choice((0.5, 0.8, 1.1)), draw.choice((-2, 1, 3))
                terms.append("(" + kind.format(x="x", c=c, j=j) + ")")
                by += sum(j * c * n * math.exp(-k * (2.1 - c * n)) for n in times or (1,) if c * n < 2.1)
            text = f"""model M {FUNCTIONS} parameter Real p = 1; Real x(start = 0, fixed = true), z(start = 0, fixed = true);
            equation der(x) = p; der(z) = -{k}*z + {' + '.join(terms)}; end M;"""
            self.differ(text, "z", {"p": by}, 2.1, SOLVERS[member % len(SOLVERS)])

    def test_branches_that_meet(self):
        """The branches guard a root, or have a kink: no event is needed, and the branch beyond the edge is undefined."""
        draw = random.Random(6)
        for member in range(COUNT):
            a = draw.choice((0.5, 1, 1.3))
            value, slope = draw.choice((("sqrt(x - {a})", lambda x: 2 / 3 * x**1.5), ("(x - {a})", lambda x: x**2 / 2),
                                        ("3*(x - {a})^2", lambda x: x**3)))
            text = f"""model M parameter Real p = 1; Real x(start = 0, fixed = true), z(start = 0, fixed = true);
            equation der(x) = p; der(z) = if noEvent(x > {a}) then {value.format(a=a)} else 0; end M;"""
            whole = lambda p: slope(2 * p - a) / p  # z at time 2
            self.differ(text, "z", {"p": (whole(1 + 1e-5) - whole(1 - 1e-5)) / 2e-5}, 2, SOLVERS[member % len(SOLVERS)], 1e-5)

    def test_outputs_that_jump(self):
        """The integral of a quantity that jumps."""
        draw = random.Random(7)
        for _ in range(COUNT // 2):
            c, j = draw.choice((0.5, 1.2)), draw.choice((-1, 2))
            text = f"""model M {FUNCTIONS} parameter Real p = 1; Real x(start = 0, fixed = true);
            Real w = {draw.choice((f'if noEvent(x > {c}) then {j} else 0', f'{j}*step(x/{c})'))}; equation der(x) = p; end M;"""
            found = run(text, "--stop-time", "2", "--gradient", "integral(w)", "--gradient-by", "p,x.start")["gradient"]["derivatives"]
            self.assertAlmostEqual(found["p"], j * c, delta=1e-6, msg=text)
            self.assertAlmostEqual(found["x.start"], j, delta=1e-6, msg=text)

    def test_functions_that_jump(self):
        """After a loop the branch is not visible: the message names the function."""
        draw = random.Random(8)
        for member in range(COUNT // 2):
            text = f"""model M {FUNCTIONS} parameter Real p = 1; Real x(start = 0.3, fixed = true), z(start = 0, fixed = true);
            equation der(x) = p; der(z) = {draw.choice((1, -2))}*looped(x) - {draw.choice((0, 1))}*z; end M;"""
            self.refused(text, "p", "z", 2, "`looped` jumps")

    def test_differences(self):
        """Forces that jump or bend without events, on states, on a linkage of index 3 and where a kink is differentiated: against differences of runs."""
        draw = random.Random(10)
        for _ in range(COUNT if COUNT > 10 else 3):
            level, size = draw.choice((0.2, 0.5, -0.3)), draw.choice((1.5, -2))
            force = draw.choice((f"if noEvent(vx > {level}) then {size} else 0", f"{size}*step(vy - {level} + 1)*(1 + vy)", f"{size}*noEvent(floor(2*x))",
                                 f"noEvent(if y < -0.5 + {level / 4} and vx < 1 then {size} else 0.1)", f"{size}*abs(vx)",
                                 f"{size}*noEvent(max(vx, {level}))", f"{size}*noEvent(sign(x*y))"))
            name, text = draw.choice((
                ("vx", f"""vx(start = 0.3, fixed = true), vy(start = 0.9, fixed = true), y(start = -0.8, fixed = true);
                 equation der(y) = vy; der(vx) = -4*x + p*({force}); der(vy) = -3*y - p;"""),
                ("x", f"""vx, vy(start = 0.9, fixed = true), y(start = -0.8, fixed = true), l;
                 equation der(y) = vy; der(vx) = -l*x + p*({force}); der(vy) = -l*y - 3*p; x^2 + y^2 = 1;"""),
                ("z", f"""vx(start = 0.3, fixed = true), vy, y, z(start = 0, fixed = true);
                 equation y = abs(x) - 0.2*p; vy = der(y); der(vx) = -4*x + p*({force}); der(z) = vy^2*y + (if noEvent(vy > {level}) then 1 else 0);""")))
            held = "" if name == "x" else ", fixed = true"
            text = f"model M {FUNCTIONS} parameter Real p = 0.7; Real x(start = 0.6{held}), {text.replace('equation', 'equation der(x) = vx;')} end M;"
            stop, solver = draw.choice((1.1, 1.7)), draw.choice(SOLVERS[:4] + SOLVERS[5:])
            at = lambda p: run(text, "--stop-time", str(stop), "--override", f"p={p}", tolerance="1e-11")["final"][name]
            slopes = [(at(0.7 + h) - at(0.7 - h)) / (2 * h) for h in (1e-4, 5e-5)]
            if abs(slopes[0] - slopes[1]) < 1e-4 * (1 + abs(slopes[1])):  # there is a derivative
                self.differ(text, name, {"p": slopes[1]}, stop, solver, 2e-4)

    # ---- the start ----

    def test_discrete_values_at_the_start(self):
        """Discrete values follow from start values, initial equations, or whens with initial(); initial values of states may follow from them."""
        draw = random.Random(8)
        values = [("(start = p*q, fixed = true)", "", "", lambda p, q: p * q), ("", "pre(d) = 2*p*q;", "", lambda p, q: 2 * p * q), ("", "d = 2*p + q;", "", lambda p, q: 2 * p + q),
                  ("", "d = p*x;", "", lambda p, q: p**3), ("", "pre(d) = q + x*p;", "", lambda p, q: q + p**3), ("(start = 4, fixed = true)", "", "when initial() then d = q*x; else", lambda p, q: q * p**2),
                  ("(start = q, fixed = true)", "", "when {initial(), time > 5} then d = p*q*x + pre(d); else", lambda p, q: q * p**3 + q)]
        states = [("(start = q, fixed = true)", "", lambda p, q, d: q), ("", "y = d*q;", lambda p, q, d: d * q), ("", "y + x = 3*q;", lambda p, q, d: 3 * q - p**2), ("", "y^2 = d + 9*p; ", lambda p, q, d: (d + 9 * p)**0.5)]
        for member in range(COUNT if COUNT > 10 else 3 * COUNT):
            (start, equation, when, value), (y_start, y_equation, state) = draw.choice(values), draw.choice(states)
            p, q = draw.uniform(0.5, 2), draw.uniform(0.5, 2)
            text = f"""model M parameter Real p = {p!r}, q = {q!r}; Real x(start = p^2, fixed = true), y{y_start or '(start = 3)'}; discrete Real d{start};
            {'initial equation' if equation + y_equation else ''} {equation} {y_equation}
            equation der(x) = 0; der(y) = d; {when}when time > 1 then d = pre(d)*q; end when; end M;"""

            def end(p, q, value=value, state=state):
                return state(p, q, value(p, q)) + value(p, q) * (1 + q)

            slopes = {"p": (end(p + 1e-5, q) - end(p - 1e-5, q)) / 2e-5, "q": (end(p, q + 1e-5) - end(p, q - 1e-5)) / 2e-5}
            self.differ(text, "y", slopes, 2, SOLVERS[member % len(SOLVERS)])

    # ---- error control ----

    def test_fast_derivatives(self):
        """The solution is zero, and steps could be of any length; its derivative oscillates."""
        draw = random.Random(9)
        for member in range(COUNT if COUNT > 10 else 3):
            w, k, p = draw.choice((20, 50, 200)), draw.choice((0.5, 1, 3)), draw.choice((0, 1e-12))
            t = draw.choice((0.5, 1))
            exact = (w * (k * math.sin(w * t) - w * math.cos(w * t)) + w * w * math.exp(-k * t)) / (k * k + w * w)
            text = f"""model M parameter Real p = {p}; Real x(start = 0, fixed = true); equation
            der(x) = -{k}*x + p*{w}*sin({w}*time); end M;"""
            self.differ(text, "x", {"p": exact}, t, ("erk", "cvode", "radau", "bdf", "ida")[member % 5], 1e-7)

    def test_many_parameters(self):
        """With many targets an adjoint follows combinations of them: a single target that needs short steps is still noticed."""
        count = 12
        declared = " ".join(f"parameter Real p{i} = {(1, 0)[i == 7]};" for i in range(count))
        terms = " + ".join(f"p{i}*{('0.1', '60*cos(60*time)')[i == 7]}" for i in range(count))
        text = f"model M {declared} Real x(start = 0, fixed = true); equation der(x) = {terms}; end M;"
        found = run(text, "--stop-time", "1", "--gradient", "x")["gradient"]["derivatives"]
        for i in range(count):
            self.assertAlmostEqual(found[f"p{i}"], math.sin(60) if i == 7 else 0.1, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
