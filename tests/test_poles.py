"""Equations that divide by zero at a time between two points of a run, or by the round-off of constants: each is reported, and
equations that are defined everywhere are not.

A member has a divisor d(u) that is zero at u = c, and u passes c once within the run. Divisors have zeros of order 1 to 3, touch zero or pass it, and occur in functions, in products, in
logarithms and tangents, and in branches that are taken. Others only look like poles: the dividend is zero as well, a branch that is not taken divides, or the divisor does not reach zero."""
import random
import unittest

from runs import by_turns, seeds, simulate

# How u moves: declarations, equations, u at time t.
MOTIONS = {
    "time": ("", "", "time"),
    "state": ("Real s(start = 0, fixed = true);", "der(s) = 1;", "s"),
    "sine": ("Real s(start = 0, fixed = true);", "der(s) = cos(time);", "s"),
    "solved": ("Real s(start = 0);", "s + 0.1*s^3 = time;", "s"),
    "given": ("Real s = time + 0.2*time^2;", "", "s"),
}
POLES = {
    "first order": "1/({u} - {c})",
    "second order": "1/({u} - {c})^2",
    "third order": "{k}/({u} - {c})^3",
    "power": "({u} - {c})^(-1)",
    "product": "{k}/(({u} - {c})*({u} + 2))",
    "square root": "1/sqrt(abs({u} - {c}))",
    "touches": "1/(1 - cos({u} - {c}))",
    "square": "1/({u}^2 - 2*{c}*{u} + {c}^2 + 0)",
    "logarithm": "log(abs({u} - {c}))",
    "tangent": "tan({u} - {c} + 1.5707963267948966)",
    "in a function": "f({u})",
    "in a branch": "(if {u} > {c} - 0.1 then {k}/({u} - {c}) else 0)",
    "behind an event": "(if {u} > {c} then 1/({u} - {c}) else 0)",
    "without events": "noEvent(if {u} > {c} - 0.1 then 1/({u} - {c}) else 0)",
    "exponential": "exp(0.01/({u} - {c}))",
}
SOUND = {
    "dividend is zero": "sin({u} - {c})/({u} - {c})",
    "guarded": "noEvent(if abs({u} - {c}) < 0.01 then 0 else 1/({u} - {c}))",
    "other branch": "(if {u} > {c} + 0.05 then 1/({u} - {c}) else 0)",
    "positive": "1/(0.3 + ({u} - {c})^2)",
    "beyond": "1/({u} - {c} - 2)",
    "before": "1/({u} + {c})",
    "wide range": "1/exp(30*{u})",
    "larger": "max(1, {u})/(1 + abs({u} - {c}))",
}
SAID = "is not defined near time"


def model(chance, motion, term):
    declared, equations, u = MOTIONS[motion]
    c, k = round(chance.uniform(0.12, 0.75), 7), round(chance.uniform(-3, 3), 3) or 1.0
    return f"""model Pole
  function f input Real u; output Real y; algorithm y := {k}/(u - {c}); end f;
  Real b, other(start = 1, fixed = true);
  {declared}
equation
  der(other) = -other;
  {equations}
  b = {term.format(u=u, c=c, k=k)};
end Pole;
"""


class Poles(unittest.TestCase):
    def members(self, terms, usual, quick):
        kinds = [(motion, name) for motion in MOTIONS for name in terms]
        random.Random(0).shuffle(kinds)
        for seed in seeds(usual, quick):
            motion, name = kinds[seed % len(kinds)]
            text = model(random.Random(seed), motion, terms[name])
            # With nonlinear equations, explicit steps are not examined inside.
            for solver in by_turns(["radau", "bdf"] if motion == "solved" else ["auto", "erk", "radau", "bdf"], seed):
                yield (seed, motion, name, solver), text, simulate(text, solver=solver, stop_time=1)

    def test_said(self):
        for member, text, run in self.members(POLES, 300, 75):
            with self.subTest(member=member):
                self.assertTrue(run.status or SAID in run.words, text)

    def test_not_said(self):
        for member, text, run in self.members(SOUND, 160, 40):
            with self.subTest(member=member):
                self.assertEqual((run.status, SAID in run.words), (0, False), text + run.words)

    def test_states_behind_poles(self):
        """The integral over a pole of order 1 or more has no value after it: the run ends. So does a solution that runs into its own pole."""
        for seed in seeds(240, 48):
            chance = random.Random(seed)
            c, order, k = round(chance.uniform(0.12, 0.85), 7), chance.choice([1, 2, 3]), round(chance.uniform(0.3, 3), 3)
            motion = chance.choice(["der(u) = 1; der(y) = {k}/(u - {c})^{order};", "u = time; der(y) = {k}/(time - {c})^{order};",
                                    "der(u) = 1; der(y) = w; w = {k}*u/(u - {c});", "u = 1; der(y) = -1/((y - {c})*(y + 2));"])
            start = c + round(chance.uniform(0.01, 0.5), 3) if "(y - " in motion else 0
            declared = "u(start = 0, fixed = true)" if "der(u)" in motion else "u"
            text = f"model M Real {declared}, y(start = {start}, fixed = true), w; equation {motion.format(c=c, k=k, order=order)} {'' if ' w = ' in motion else 'w = 1;'} end M;"
            for solver in by_turns(["auto", "erk", "radau", "bdf", "ida", "cvode"], seed):
                run = simulate(text, solver=solver, stop_time=chance.choice((2, 5)), tolerance=chance.choice((1e-3, 1e-4, 1e-6)))
                with self.subTest(seed=seed, solver=solver):
                    self.assertEqual(run.status, 6, text)


class RoundOff(unittest.TestCase):
    """Sums of decimal numbers that cancel except for round-off: an equation that divides by one is refused by name."""

    def cancelled(self, chance):
        """Decimal numbers whose sum differs from that of their doubles."""
        while True:
            a, b = round(chance.uniform(0.1, 9), chance.randint(1, 3)), round(chance.uniform(0.1, 9), chance.randint(1, 3))
            c = float(f"{a + b:.6f}")
            if a + b != c:
                return f"{a} + {b}", f"{c}"

    def test_divisors(self):
        for seed in seeds(200, 40):
            chance = random.Random(seed)
            x, y = self.cancelled(chance)
            kind = chance.choice(["constant Real", "parameter Real", "Real"])
            k, power = round(chance.uniform(1, 5), 2), chance.choice(["", "^2"])
            numerator = chance.choice(["1", "time", "w"])
            text = f"model M {kind} x = {x}; {kind} y = {y}; Real w(start = 1, fixed = true), z; equation der(w) = -w; z = {numerator}/({k}*(x - y)){power}; end M;"
            run = simulate(text)
            with self.subTest(seed=seed):
                self.assertEqual(run.status, 5, text)
                self.assertIn("not defined", run.words)

    def test_parameters(self):
        for seed in seeds(100, 20):
            chance = random.Random(seed)
            x, y = self.cancelled(chance)
            kind = chance.choice(["constant", "parameter"])
            text = f"model M {kind} Real x = {x}, y = {y}, d = x - y; Real z = time + 1/d; end M;"
            run = simulate(text)
            with self.subTest(seed=seed):
                self.assertIn("`d` is only round-off", run.words)
            run = simulate(text.replace("d = x - y", "d = 1/(x - y)"))
            with self.subTest(seed=seed, of="quotient"):
                self.assertEqual(run.status, 3, run.words)

    def test_not_said(self):
        """Remaining digits are not round-off, and neither is a zero."""
        for seed in seeds(100, 20):
            chance = random.Random(seed)
            a, b = round(chance.uniform(1, 9), 3), round(chance.uniform(1e-12, 1e-9), 15)
            kind = chance.choice(["constant", "parameter"])
            text = f"model M {kind} Real x = {a} + {b}, y = {a}, e = 3 - 3, d = x - y; Real z = time/(x - y) + e; end M;"
            run = simulate(text)
            with self.subTest(seed=seed):
                self.assertEqual((run.status, "round-off" in run.words), (0, False), text + run.words)


class WithoutEffect(unittest.TestCase):
    """Correlations that apply only beyond a limit, such as heat transfer of a turbulent flow, have poles below the limit. There they have no
    effect: the run equals one without them, and takes only a few more steps."""

    def member(self, chance, has_poles):
        poles = [round(chance.uniform(0.3, 4), 4) for _ in range(chance.randint(1, 8))]
        rate, limit = round(10**chance.uniform(1, 4), 2), round(chance.uniform(0.5, 3), 3)
        values, equations = [], []
        for k, c in enumerate(poles):
            used = f"(if noEvent(x > 1.5) then w{k} else {limit})"
            if chance.random() < 0.5: used = f"(g*w{k} + (1 - g)*{limit})"
            equations.append(f"y{k} = 1/(time - {c})^{chance.randint(1, 3)}; w{k} = y{k}*abs(y{k}) + x;" if has_poles else f"y{k} = x; w{k} = 2*x;")
            values.append(used)
        names = ", ".join(f"y{k}, w{k}" for k in range(len(poles)))
        return f"""model M
  Real x(start = 1, fixed = true), z(start = 0, fixed = true), g, sum, {names};
equation
  g = noEvent(if x <= 1.5 then 0 elseif x >= 2 then 1 else 2*(x - 1.5));
  {" ".join(equations)}
  sum = {" + ".join(values)};
  der(x) = -{rate}*(x - sin(time));
  der(z) = sum - z + x;
end M;
"""

    def test_poles(self):
        for seed in seeds(200, 30):
            text, plain = (self.member(random.Random(seed), has_poles) for has_poles in (True, False))
            run, other = (simulate(t, solver="radau", stop_time=5, intervals=7) for t in (text, plain))
            self.assertEqual((run.status, other.status), (0, 0), (seed, run.words, other.words))
            for name in ("x", "z"): self.assertAlmostEqual(run.end(name), other.end(name), delta=1e-4, msg=seed)
            self.assertLess(run.report["steps"], 4 * other.report["steps"] + 40, seed)


if __name__ == "__main__":
    unittest.main()
