"""Divisions by zero whose infinite result a relation, mod, min, exp and similar operators turn into a number: generated members, each
with the divisor 0 and with another one. The division is used from the start, from an event on, at an event, or never."""
import math
import os
import random
import subprocess
import tempfile
import unittest

from runs import Tally, seeds, simulate

P = 0.7  # a divisor that is not zero


def relation(value):
    return f"if {value} > 1 then 1 else 2", lambda v: 1 if v > 1 else 2


# for a quotient: text, value
READERS = [
    relation,
    lambda q: (f"if noEvent({q} > 1) then 1 else 2", lambda v: 1 if v > 1 else 2),
    lambda q: (f"if less(1, {q}) then 1 else 2", lambda v: 1 if v > 1 else 2),
    lambda q: (f"if {q} < 1 or {q} >= 3 then 1 else 2", lambda v: 1 if v < 1 or v >= 3 else 2),
    lambda q: (f"floor({q})", math.floor),
    lambda q: (f"ceil({q})", math.ceil),
    lambda q: (f"sign({q})", lambda v: (v > 0) - (v < 0)),
    lambda q: (f"min({q}, 5)", lambda v: min(v, 5)),
    lambda q: (f"max({q}, -5)", lambda v: max(v, -5)),
    lambda q: (f"atan({q})", math.atan),
    lambda q: (f"tanh({q})", math.tanh),
    lambda q: (f"exp(-abs({q}))", lambda v: math.exp(-abs(v))),
    lambda q: (f"1/(1 + abs({q}))", lambda v: 1 / (1 + abs(v))),
    lambda q: (f"picked({q})", lambda v: 1 if v > 0.5 else 2),
]
# for a dividend and a divisor: text, value
WHOLE = [
    ("div({}, {})", lambda a, b: math.trunc(a / b)),
    ("mod({}, {})", lambda a, b: a - math.floor(a / b) * b),
    ("rem({}, {})", lambda a, b: a - math.trunc(a / b) * b),
    ("remainder({}, {})", lambda a, b: a - math.floor(a / b) * b),
]
# a divisor, from the text of a parameter: text, factor
DIVISORS = [("{}", 1), ("({}*(time + 1.5)/2.5)", 1), ("(-{})", -1), ("({}^2)", P), ("sqrt({}^2)", 1), ("(if time > -1 then {} else 1)", 1)]

FUNCTIONS = """  function less input Real a; input Real b; output Boolean y; algorithm y := a < b; end less;
  function picked input Real u; output Real y; algorithm if u > 0.5 then y := 1; else y := 2; end if; end picked;
  function remainder input Real a; input Real b; output Real y; algorithm y := mod(a, b); end remainder;
"""


class Division:
    """A model whose y is `value` at the end, if y is used."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.is_zero, self.place = rng.random() < 0.6, rng.choice(["always", "later", "never", "guarded", "event", "boolean", "state"])
        divisor, factor = rng.choice(DIVISORS)
        dividend, top = rng.choice([("(x + 1.3)", 3.3), ("(time + 1.6)", 2.6), ("2.9", 2.9), ("(k + 0.9)", 1.9)])
        parameter = rng.choice(["p", "n", "d"])
        bottom = factor * {"p": P, "n": 1, "d": P}[parameter] if factor != P else {"p": P, "n": 1, "d": P}[parameter] ** 2
        if rng.random() < 0.3 and "time" not in divisor:
            whole, function = rng.choice(WHOLE)
            text, value = whole.format(dividend, divisor.format(parameter)), function(top, bottom)
        else:
            text, function = rng.choice(READERS)(f"{dividend}/{divisor.format(parameter)}")
            value = function(top / bottom)
        text = f"({text})"
        at_end = {"always": value, "later": value, "never": 9, "guarded": 9 if self.is_zero else value, "event": value, "boolean": 1 if value > 1.5 else 2, "state": value}[self.place]
        equation = {
            "always": f"y = {text};",
            "later": f"y = if time > 0.4 then {text} else 9;",
            "never": f"y = if time > 2 then {text} else 9;",
            "guarded": f"y = if {parameter} <> 0 then {text} else 9;",
            "event": f"when time >= 1 then h = {text}; end when; y = if time >= 1 then h else 9;",
            "boolean": f"b = {text} > 1.5; y = if b then 1 else 2;",
            "state": f"der(s) = {text}; y = der(s);",
        }[self.place]
        zero = self.is_zero
        self.expected, self.fails = at_end, zero and self.place not in ("never", "guarded")
        declared = {"event": "  discrete Real h(start = 0, fixed = true);\n", "boolean": "  Boolean b;\n", "state": "  Real s(start = 0, fixed = true);\n"}.get(self.place, "")
        self.text = (f"model M\n{FUNCTIONS}  parameter Real p = {0 if zero else P}; parameter Integer n = {0 if zero else 1};\n"
                     f"  discrete Real d(start = {0 if zero else P}, fixed = true); Integer k(start = 0, fixed = true);\n"
                     f"  Real x(start = 1, fixed = true), y;\n{declared}equation\n  der(x) = 1;\n"
                     f"  when time > 0.2 then k = 1; d = pre(d); end when;\n  {equation}\nannotation(experiment(StopTime = 1));\nend M;\n")

    def is_right(self, run):
        return abs(run.end("y") - self.expected) <= 1e-6 * (1 + abs(self.expected))


class Divisions(unittest.TestCase):
    def test_generated(self):
        valid, invalid = Tally("divisions"), Tally("divisions by zero")
        for seed in seeds(600, quick=80):
            model = Division(seed)
            run = simulate(model.text, tolerance=1e-8)
            if not model.fails:
                valid.add(run, lambda run=run, model=model: model.is_right(run), seed, model.text)
            elif run.status and any(words in run.words for words in ("division by zero", "not defined", "no consistent values")):
                invalid.add_right()
            else:
                invalid.add_wrong(seed, model.text, run.status, run.words)
        valid.check(self)
        invalid.check(self)

    def test_exported(self):
        """Exported programs check the same."""
        for value in ("if (time + 1)/p > 1 then 1 else 2", "mod(time + 0.5, p)", "atan(1/p)"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "m.mo")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"model M parameter Real p = 0; Real y; equation y = if time > 0.4 then {value} else 9; annotation(experiment(StopTime = 1)); end M;")
                subprocess.run([os.environ["DAEDAL"], "export", path, "--c", folder, "--standalone", "-q"], check=True)
                subprocess.run("cc -O0 -o m *.c -lm", shell=True, check=True, cwd=folder)
                done = subprocess.run([os.path.join(folder, "m")], capture_output=True, text=True, check=False)
                self.assertNotEqual(done.returncode, 0, value)
                self.assertIn("division by zero: p = 0", done.stderr, value)

    def test_infinity_is_a_value(self):
        """Overflow, and a divisor that passes zero."""
        for text, value in [("if exp(2000*time) > 5 then 1 else 2", 1), ("if 1/(time - 0.5) > 0 then 1 else 2", 1), ("if 1/(0.5 - x) > 0 then 1 else 2", 2),
                            ("atan(1/(x - 0.5))", math.atan(2)), ("if 1/time > 0 then 1 else 2", 1)]:
            run = simulate(f"model M Real x(start = 0, fixed = true), y; discrete Real k(start = 0, fixed = true);\nequation der(x) = 1; y = {text}; "
                           "when time >= 0.5 then k = 1; end when; end M;")
            self.assertEqual(run.status, 0, run.words)
            self.assertAlmostEqual(run.end("y"), value, 6, text)


if __name__ == "__main__":
    unittest.main()
