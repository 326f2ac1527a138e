"""The meaning of models: generated members of classes that are easily misunderstood, with known results. DAEDAL_MODELS=N makes more of
them (runs.py). Single models are in cases/meaning."""
import itertools
import math
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from runs import IS_LONG, IS_WIDE, SANITIZED, Tally, seeds, simulate, solver_names

SOLVERS = solver_names()


def exported_words(text):
    """The messages of the exported program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.mo")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([os.environ["DAEDAL"], "export", path, "--c", folder, "--standalone", "-q"], check=True)
        subprocess.run("cc -O0 -o m *.c -lm", shell=True, check=True, cwd=folder)
        return subprocess.run([os.path.join(folder, "m")], capture_output=True, text=True, check=False).stderr


class Starts(unittest.TestCase):
    """Fixed start values that initial equations or algorithms determine, through bindings of parameters."""

    def test_generated(self):
        tally = Tally("start values that are determined")
        for seed in seeds(300, quick=24):
            rng = random.Random(seed)
            base, factor, shift = rng.randrange(1, 9), rng.randrange(2, 5), rng.randrange(-3, 4)
            section = rng.choice(["initial equation\n  p = {0}; m = {1};", "initial algorithm\n  p := {0}; m := {1};", "initial equation\n  p + 1 = {0} + 1; m = {1};"])
            links = rng.randrange(4)
            chain = "".join(f"  parameter Real q{k} = {'p' if k == 0 else f'q{k - 1}'} + 1;\n" for k in range(links))
            last = f"q{links - 1}" if links else "p"
            chain += f"  parameter Real inverse = 1/p;\n" if rng.random() < 0.5 else ""  # has no value before
            start = f"{factor}*{last} + {shift}" + (" + inverse - 1/p" if "inverse" in chain else "")
            value = factor * (base + links) + shift
            text = (f"model M\n  parameter Real p(fixed = false); parameter Integer m(fixed = false);\n{chain}"
                    f"  Real x(start = {start}, fixed = true), y(start = {last}); Integer k(start = m + 2, fixed = true);\n"
                    f"{section.format(base, base + 1)}\nequation\n  der(x) = -x; y^3 = x + 1;\n  when time > 0.5 then k = pre(k) + 1; end when;\nend M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], tolerance=1e-8)
            tally.add(run, lambda run=run, value=value, base=base: abs(run.columns["x"][0] - value) < 1e-9 * (1 + abs(value))
                      and abs(run.end("x") - value * math.exp(-1)) < 1e-5 * (1 + abs(value)) and (run.columns["k"][0], run.end("k")) == (base + 3, base + 4), seed, text)
        tally.check(self)


class Mixed(unittest.TestCase):
    """Variables that an algorithm assigns inside and outside of whens. Each event runs the section again, from the values before
    it, until nothing changes."""

    NAMES = ("a", "b", "c")

    def expression(self, rng):
        name, other = rng.choice(self.NAMES), rng.choice(self.NAMES)
        return rng.choice([str(rng.randrange(5)), f"mod({name} + {rng.randrange(1, 4)}, 5)", f"mod({name} + {other}, 4)", f"min({name}, {other})", f"{name}*0", name, f"pre({name})"])

    def statements(self, rng, times):
        """Each statement is (kind, [(condition, [(name, expression)])]); kinds: assign, if, when."""
        found = []
        for _ in range(rng.randrange(2, 6)):
            kind = rng.choice(["assign", "if", "when", "when"])
            branches = [(f"{rng.choice(self.NAMES)} > {rng.randrange(1, 4)}" if kind == "if" or rng.random() < 0.3 else f"time >= {times.pop()}",
                         [(rng.choice(self.NAMES), self.expression(rng)) for _ in range(rng.randrange(1, 3))]) for _ in range(1 if kind == "assign" else rng.randrange(1, 3))]
            found.append((kind, branches))
        return found

    def text(self, statements):
        lines = []
        for kind, branches in statements:
            for k, (condition, body) in enumerate(branches):
                if kind != "assign":
                    lines.append(f"  {'else' if k else ''}{kind} {condition} then")
                lines += [f"    {name} := {value};" for name, value in body]
            lines += [] if kind == "assign" else [f"  end {kind};"]
        only_whens = all(kind == "when" for kind, _ in statements)
        return f"model M\n  {'discrete Real' if only_whens and len(statements) % 2 else 'Integer'} a(start = 0, fixed = true), b(start = 1, fixed = true), c(start = 2, fixed = true);\nalgorithm\n" + "\n".join(lines) + "\nend M;\n"

    def once(self, statements, time, before, conditions):
        """One run of the section: values, and the conditions of all branches of whens; conditions None: nothing fires."""
        now, seen, place = dict(before), [], 0

        def value(text):
            return int(eval(re.sub(r"pre\((\w)\)", r"before['\1']", text), {"before": before, "mod": lambda x, y: x % y, "min": min, "time": time}, now))

        for kind, branches in statements:
            held = [1 if kind == "assign" else value(condition) for condition, _ in branches]
            fires = held if kind != "when" else [h and conditions is not None and not conditions[place + k] for k, h in enumerate(held)]
            if kind == "when":
                seen += held
                place += len(held)
            for fire, (_, body) in zip(fires, branches):
                if fire:
                    for name, expression in body:
                        now[name] = value(expression)
                    break
        return now, seen

    def settle(self, statements, time, values, conditions):
        for _ in range(30):
            now, seen = self.once(statements, time, values, conditions)
            if now == values and seen == conditions:
                return now, seen
            values, conditions = now, seen if conditions is not None else conditions
        return None

    def expected(self, statements, times):
        """The values after the event of each time; None: they do not settle."""
        values, conditions, found = {"a": 0, "b": 1, "c": 2}, None, []
        if {name for _, branches in statements for _, body in branches for name, _ in body} != set(self.NAMES):
            return None
        now, seen = self.once(statements, 0, values, None)
        if now != values:
            return None  # fixed start values that the section changes
        conditions = seen
        for time in times:
            settled = self.settle(statements, time, values, conditions)
            if settled is None:
                return None
            values, conditions = settled
            found.append(values)
        return found

    def test_generated(self):
        tally = Tally("variables assigned in whens and outside")
        for seed in seeds(300, quick=60):
            rng, expected = random.Random(seed), None
            while expected is None:
                times = [round(0.05 * k, 2) for k in range(1, 19)]
                order = sorted(times)
                statements = self.statements(rng, rng.sample(times, len(times)))
                expected = self.expected(statements, order)
            run = simulate(self.text(statements), solver=SOLVERS[seed % len(SOLVERS)], intervals=40)

            def is_right(run=run, order=order, expected=expected):
                for time, values in zip(order, expected):
                    row = max(k for k, t in enumerate(run.columns["time"]) if t <= time + 0.01)
                    if any(run.columns[name][row] != values[name] for name in self.NAMES):
                        return False
                return True

            tally.add(run, is_right, seed, self.text(statements))
        tally.check(self)


class Assertions(unittest.TestCase):
    CROSSING = "model M\n  Real x(start = {0}, fixed = true);\n{1}equation\n  der(x) = 1;\n{2}end M;\n"

    def test_without_events(self):
        """An assertion within noEvent is checked in each row, at ends of steps and at the end."""
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            limit = rng.uniform(0.05, 0.95)
            condition = rng.choice([f"noEvent(x < {limit})", f"noEvent(not x >= {limit})", f"noEvent(time < {limit})", f"noEvent(x) < {limit}", f"noEvent(x^2 < {limit**2})"])
            run = simulate(self.CROSSING.format(0, "", f"  assert({condition}, \"too large\");\n"), solver=SOLVERS[seed % len(SOLVERS)], intervals=20)
            self.assertEqual(run.status, 6, (seed, condition, run.words))
            self.assertIn("too large", run.words)
        run = simulate("model M\n  Real y;\nequation\n  y = time;\n  assert(noEvent(y < 0.99), \"at the end\");\nend M;\n", intervals=2)
        self.assertEqual((run.status, "at the end" in run.words), (6, True), run.words)

    def test_initial_sections(self):
        """Assertions of initial sections are checked once, at the start: later they have no effect, and cause no event."""
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            start, limit = rng.choice([0, 0.25, 0.75, 1]), rng.choice([0.5, 0.125])
            condition = rng.choice([f"x < {limit}", f"not x >= {limit}", f"noEvent(x < {limit})", f"time + x < {limit}", f"x < p", f"x^3 < {limit**3}", f"x < {limit} and time < 0.5"])
            section = rng.choice(["initial equation\n  {};\n", "initial algorithm\n  {};\n", "initial equation\n  if p > 0 then {}; end if;\n", "initial algorithm\n  for i in 1:2 loop {}; end for;\n"])
            text = self.CROSSING.format(start, f"  parameter Real p = {limit};\n" + section.format(f"assert({condition}, \"too large at the start\")"), "")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)])
            with self.subTest(text=text):
                self.assertEqual((run.status, "too large at the start" in run.words), (0, False) if start < limit else (5, True), run.words)
                if not run.status:
                    self.assertEqual(run.report["events"], 0)

    def test_level(self):
        """The level of an assertion, however it is given: with a warning the run continues to its end."""
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            level, other = rng.sample(["warning", "error"], 2)
            given, declared = rng.choice([(f"AssertionLevel.{level}", ""), ("l", f"parameter AssertionLevel l = AssertionLevel.{level};"), ("c.l", f"record C parameter AssertionLevel l = AssertionLevel.{other}; end C; C c(l = AssertionLevel.{level});"),
                                          ("if p then l else k", f"parameter AssertionLevel l = AssertionLevel.{level}, k = AssertionLevel.{other}; parameter Boolean p = true;"), ("l[2]", f"parameter AssertionLevel l[2] = {{AssertionLevel.{other}, AssertionLevel.{level}}};"),
                                          ("l", f"constant AssertionLevel l = AssertionLevel.{level};"), ("l", f"parameter Boolean q = {'true' if level == 'error' else 'false'}; parameter AssertionLevel l = if q then AssertionLevel.error else AssertionLevel.warning;")])
            condition = rng.choice(["x < 0.5", "noEvent(x < 0.5)", "not x >= 0.25", "x < 0"])
            place = rng.choice(["  assert({});\n", "algorithm\n  assert({});\n", "  when x > 0.75 then assert({}); end when;\n"])
            text = self.CROSSING.format(0, "", place.format(f"{condition}, \"too large\", {given}")).replace("model M\n", f"model M\n  {declared}\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)])
            with self.subTest(text=text):
                self.assertEqual("too large" in run.words, True, run.words)
                self.assertEqual(run.status in (5, 6), level == "error", run.words)
                if level == "warning":
                    self.assertEqual((run.status, run.end("time")), (0, 1), run.words)

    def test_message(self):
        """A message is computed only if the condition fails: errors in it before that have no effect."""
        head = ("model M\n  function say input Real u; output String s; protected String t[2] = {\"a\", \"b\"}; algorithm assert(u > 10, \"in the message\"); s := t[integer(u)]; end say;\n"
                "  function f input Real u; output Real y; protected Integer n; algorithm n := 0; while n < u loop n := n + 1; assert(n < {0}, \"too large\" + {1}); end while; y := n; end f;\n")
        for message in ("say(x)", "say(-x)", "String(log(x - 5))"):
            for body, status in ((f"assert(x < 5, \"too large\" + {message});", 0), (f"assert(noEvent(x < 5), {message});", 0), (f"when x > 0.25 then assert(x < 5, {message}); end when;", 0),
                                 (f"assert(x < 0.5, \"too large\" + {message});", 6)):
                functions = head.replace("{0}", "9").replace("{1}", message.replace("x", "u"))
                run = simulate(f"{functions}  Real x(start = 0, fixed = true), y = f(3*time);\nequation\n  der(x) = 1;\n  {body}\nend M;\n")
                self.assertEqual(run.status, status, (body, run.words))


    def test_message_has_values(self):
        """A message contains the values of the instant: pieces of all types in random order, at events, between them, at the start,
        in functions and whens."""
        head = """model M
  type E = enumeration(low, high);
  function f input Real u; output Real y; algorithm {inside} y := 3*u; end f;
  parameter Real p = 2.5; parameter Integer n = 7; parameter String word = "word";
  Real x(start = 0.125, fixed = true), z = -2*x, y = f(x);
  Integer k = integer(8*x + 0.5); Boolean b = x > 0.5; E e = if x < 0.5 then E.low else E.high; discrete Real d(start = 5, fixed = true);
{initial}equation
  der(x) = 1;
  when x > 0.25 then d = 6; end when;
{body}end M;
"""
        places = [("body", "assert(x < 0.625, {});", 6, 0.625), ("body", "assert(noEvent(time < 0.4995), {});", 6, 0.625), ("body", "when x > 0.625 then assert(false, {}); end when;", 6, 0.625),
                  ("body", "when x > 0.625 then terminate({}); end when;", 0, 0.625), ("body", "assert(x < 0.625, {}, AssertionLevel.warning);", 0, 0.625), ("initial", "initial equation\n  assert(x < 0.1, {});", 5, 0.125),
                  ("inside", "assert(u < 0.6245, {});", 6, 0.625)]
        for seed in seeds(300, quick=40):
            rng = random.Random(seed)
            place, text, status, x = rng.choice(places)
            name = "u" if place == "inside" else "x"
            known = place != "inside"
            pieces = [(f"String({name})", f"{x:g}"), (f"String({name}, significantDigits = 3)", f"{x:.3g}"), (f'String({name}, format = "8.4f")', f"{x:8.4f}"), (f"String(2*{name} + 1)", f"{2*x + 1:g}"),
                      (f"String({name}, minimumLength = 9)", f"{x:<9g}"), (f"String({name}, minimumLength = 9, leftJustified = false)", f"{x:>9g}"), (f'(if {name} > 0.5 then "big" else "small")', "big" if x > 0.5 else "small"),
                      ('"plain"', "plain"), (f"String({name} > 0.5)", "true" if x > 0.5 else "false"), (f"String(integer(4*{name}) + 1)", str(int(4*x) + 1))]
            if known:
                pieces += [("String(z)", f"{-2*x:g}"), ("String(k)", str(int(8*x))), ("String(e)", "high" if x > 0.5 else "low"), ("String(d)", "6" if x > 0.25 else "5"), ("String(p*n)", "17.5"), ("word", "word"),
                           ("String(n)", "7"), ("String(b)", "true" if x > 0.5 else "false"), ("String(y)", f"{3*x:g}"), ("String(der(x))", "1")]
            chosen = [rng.choice(pieces) for _ in range(rng.randrange(1, 6))]
            parts = {"inside": "", "initial": "", "body": ""}
            parts[place] = text.format(" + ".join(a for a, _ in chosen)) + "\n"
            model = head
            for key, part in parts.items():
                model = model.replace(f"{{{key}}}", part)
            run = simulate(model, solver=SOLVERS[seed % len(SOLVERS)], intervals=1000)
            with self.subTest(model=model):
                self.assertEqual(run.status, status, run.words)
                self.assertIn('"' + "".join(b for _, b in chosen) + '"', run.words)
                if status == 5 or place == "inside" or SANITIZED or not shutil.which("cc") or not (IS_LONG or IS_WIDE or seed % 10 == 0):
                    continue  # in an exported program the initial values come from the library, and texts inside functions are not
                              # reported
                self.assertIn("".join(b for _, b in chosen) + "\n", exported_words(model))

    def test_what_is_not_defined(self):
        """An equation that leaves its domain during the run is named with the reason, an assertion in a called function with its
        own text."""
        head = ("model M\n  function f input Real u; output Real y; protected Real r; algorithm r := u; while r >= 1 loop r := r - 1; end while; "
                "assert(u < {0}, \"too large is \" + String(integer(100*u))); y := r; end f;\n  function g input Real u; output Real y; algorithm y := 2*f(u); end g;\n")
        for seed in seeds(300, quick=24):
            rng = random.Random(seed)
            edge = rng.uniform(0.3, 0.9)
            call, words = rng.choice([("f({})", "too large is "), ("g({})", "too large is "), (f"log({edge!r} - {{}})", "logarithm"), (f"sqrt({edge!r} - {{}})", "square root"), (f"asin({{}} + 1 - {edge!r})", "arc sine")])
            argument = rng.choice(["s", "time", "v"])
            body = rng.choice(["der(x) = {};", "x = {};", "x + sin(x)/2 = {};", "der(x) = y; y = {};", "der(x) = -x + y; y^3 + y = {};"]).format(call.format(argument))
            text = (f"{head.replace('{0}', repr(edge))}  Real s(start = 0, fixed = true), v = 2*s - time, x(start = 0{', fixed = true' if 'der(x)' in body else ''}){', y' if 'y' in body.replace(call, '') else ''};\n"
                    f"equation\n  der(s) = 1;\n  {body}\nend M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)])
            with self.subTest(text=text):
                self.assertEqual(run.status, 6, run.words)
                self.assertIn(words, run.words)
                self.assertNotIn("equation `der(s) = 1`", run.words)


class Functions(unittest.TestCase):
    """Integers and Booleans that functions compute from varying values."""
    HEAD = """model M
  function pick input Real u; output Integer k; algorithm k := if u < 0.5 then 1 elseif u < 1.25 then 2 else 3; end pick;
  function count input Real u; output Integer k; algorithm k := 0; while k < u loop k := k + 1; end while; end count;
  function big input Real u; output Boolean b; algorithm b := u > 0.3; end big;
  function odd input Real u; output Boolean k; protected Real r; algorithm r := u; while r >= 2 loop r := r - 2; end while; k := r >= 1; end odd;
  function two input Real u; output Real y; output Integer k; algorithm y := 2*u; k := integer(3*u); end two;
"""
    KINDS = [("Integer", "pick", lambda u: 1 if u < 0.5 else 2 if u < 1.25 else 3), ("Integer", "count", lambda u: max(0, math.ceil(u))),
             ("Boolean", "big", lambda u: u > 0.3), ("Boolean", "odd", lambda u: math.floor(u) % 2 == 1)]

    def test_generated(self):
        tally = Tally("discrete outputs of functions")
        for seed in seeds(300, quick=24):
            rng = random.Random(seed)
            kind, name, value = rng.choice(self.KINDS)
            slope = rng.uniform(0.5, 6)
            by_state = rng.random() < 0.5
            text = (f"{self.HEAD}  Real u{'(start = 0, fixed = true)' if by_state else ''}, y; {kind} k; Integer j, n(start = 0, fixed = true);\nequation\n"
                    f"  {f'der(u) = {slope!r}' if by_state else f'u = {slope!r}*time'};\n  k = {name}(u);\n  (y, j) = two(u);\n"
                    f"  when {'k' if kind == 'Boolean' else 'k > 1'} then n = pre(n) + 1; end when;\nend M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], intervals=37, tolerance=1e-8)
            tally.add(run, lambda run=run, value=value, slope=slope: self.is_right(run, value, slope), seed, text)
        tally.check(self)

    @staticmethod
    def is_right(run, value, slope):
        """Close to an edge, the value of either side is accepted."""
        times, u = run.columns["time"], run.columns["u"]
        for row, time in enumerate(times):
            near = {float(value(slope * time + off)) for off in (-1e-6, 0, 1e-6)}
            whole = {float(math.floor(3 * (slope * time + off))) for off in (-1e-6, 0, 1e-6)}
            if run.columns["k"][row] not in near or run.columns["j"][row] not in whole or abs(u[row] - slope * time) > 1e-6: return False
        return True


class Pulses(unittest.TestCase):
    """Relations on Integers and Booleans returned by functions with loops of unknown length: they fire when the value changes, even if it changes back within a step."""
    HEAD = Functions.HEAD + ("  function pulse input Real u; output Integer k; protected Real r; algorithm r := u; while r >= 1 loop r := r - 1; end while; "
                             "k := if r > 0.4 and r < 0.5 then 1 else 0; end pulse;\n")
    RELATIONS = [("pick(x) > 1", [0.5]), ("count(x) > 2", [2]), ("odd(x)", range(1, 40, 2)), ("pulse(x) > 0", [k + 0.4 for k in range(40)]), ("pulse(x) >= 1", [k + 0.4 for k in range(40)]),
                 ("0 < pulse(x)", [k + 0.4 for k in range(40)]), ("pulse(x) <= 0", [k + 0.5 for k in range(40)]), ("pulse(x) == 1", [k + 0.4 for k in range(40)]), ("pulse(x) <> 0", [k + 0.4 for k in range(40)]),
                 ("2*count(x) - 3 > 0", [1]), ("count(x)/3 > 0.9", [2]), ("count(x) - pulse(x) > 1", [1, 1.5]), ("pulse(x) == 1 and not odd(x)", [k + 0.4 for k in range(0, 40, 2)])]
    MOTIONS = ["der(x) = {0};", "x = {0}*time; der(y) = x;", "x = y + 0; der(y) = {0};", "x = {0}*y; der(y) = 1;"]

    def test_generated(self):
        tally = Tally("relations on discrete values of functions")
        for seed in seeds(300, quick=26):
            rng = random.Random(seed)
            relation, places = self.RELATIONS[seed % len(self.RELATIONS)]
            rate, motion = rng.choice([2.1, 3.3, 7.15, 0.7, 11.1]), rng.choice(self.MOTIONS)
            starts = "(start = 0, fixed = true)"
            text = (f"{self.HEAD}  Real x{starts if 'der(x)' in motion else ''}{f', y{starts}' if 'y' in motion else ''}; Integer n{starts}; discrete Real t{starts};\n"
                    f"equation\n  {motion.format(rate)}\n  when {relation} then n = pre(n) + 1; t = time; end when;\nend M;\n")
            times = [place / rate for place in places if place < rate]
            run = simulate(text, solver=SOLVERS[(seed // 2) % len(SOLVERS)], intervals=2)
            tally.add(run, lambda run=run, times=times: run.end("n") == len(times) and abs(run.end("t") - (times[-1] if times else 0)) < 1e-6, seed, text)
        tally.check(self)


class Reductions(unittest.TestCase):
    def test_sums_of_arrays(self):
        tally = Tally("sums of arrays")
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            rows, columns = rng.randrange(1, 5), rng.randrange(1, 5)
            v = [[rng.randrange(-9, 10) for _ in range(columns)] for _ in range(rows)]
            matrix = "{" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in v) + "}"
            text = (f"model M\n  parameter Real v[{rows}, {columns}] = {matrix};\n  Real a[{columns}], b[{rows}], c[2], d, e[{rows}, {columns}], f[2, 2];\nequation\n"
                    f"  a = sum(v[k, :] for k in 1:{rows});\n  b = sum(v[:, k] for k in 1:{columns});\n  c = sum({{i*j, v[i, j]}} for i in 1:{rows}, j in 1:{columns});\n"
                    f"  d = sum(sum(v[i, j] for j in 1:{columns}) for i in 1:{rows});\n  e = {{v[i, :]*time for i in 1:{rows}}};\n"
                    f"  f = sum({{{{i, 0}}, {{1, i}}}} for i in 1:{rows});\nend M;\n")
            expected = {f"a[{k + 1}]": sum(row[k] for row in v) for k in range(columns)} | {f"b[{k + 1}]": sum(v[k]) for k in range(rows)}
            pairs = [(i + 1, j + 1) for i in range(rows) for j in range(columns)]
            expected |= {"c[1]": sum(i * j for i, j in pairs), "c[2]": sum(map(sum, v)), "d": sum(map(sum, v)), "f[1,1]": sum(range(rows + 1)), "f[2,1]": rows, "f[1,2]": 0, "f[2,2]": sum(range(rows + 1))}
            expected |= {f"e[{i},{j}]": v[i - 1][j - 1] for i, j in pairs}
            run = simulate(text, intervals=1)
            wrong = run.status == 0 and {name: run.end(name) for name, value in expected.items() if abs(run.end(name) - value) > 1e-9}
            tally.add(run, lambda wrong=wrong: not wrong, seed, wrong, text)
        tally.check(self)


class Records(unittest.TestCase):
    """Loops over vectors of records: in functions, also with loops of unknown length, in algorithm sections, iterations and sums."""
    HEAD = """model M
  record I Real z; end I;
  record R Real a; Integer n; I i; Real v[2]; end R;
  function once input R p[:]; output Real y; algorithm y := 0; for k in p loop y := y + k.a*k.i.z - k.v[2]*k.n; end for; end once;
  function repeated input R p[:]; input Real u; output Real y; protected Real s = u; algorithm y := 0;
    while s > 0.1 loop s := s/2; for k in p, j in p loop y := y + s*k.a - j.n*k.i.z + j.v[1]; end for; end while; end repeated;
"""

    def test_generated(self):
        tally = Tally("loops over records")
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            count, u = rng.randrange(0 if seed % 5 == 0 else 1, 4), rng.uniform(0.2, 3)
            p = [[rng.randrange(-9, 10) for _ in range(5)] for _ in range(count)]
            texts = ", ".join(f"R({a}, {n}, I({z}), {{{v}, {w}}})" for a, n, z, v, w in p)
            vector = f"{{{texts}}}" if count else "fill(R(1, 1, I(1), {1, 1}), 0)"
            text = (f"{self.HEAD}  parameter R p[{count}] = {vector};\n  Real x(start = {u}, fixed = true), y = once(p), w = repeated(p, x), s;\n  Real t = sum(k.a*k.v[1] for k in p);\n"
                    f"  Real c[{count}] = {{k.i.z*time for k in p}};\nalgorithm\n  s := 0;\n  for k in p loop\n    s := s + k.n*time;\n  end for;\nequation\n  der(x) = 0;\nend M;\n")
            repeated, left = 0, u
            while left > 0.1:
                left /= 2
                repeated += sum(left * k[0] - j[1] * k[2] + j[3] for k in p for j in p)
            expected = {"y": sum(a * z - w * n for a, n, z, v, w in p), "w": repeated, "s": sum(k[1] for k in p), "t": sum(k[0] * k[3] for k in p)} | {f"c[{i + 1}]": k[2] for i, k in enumerate(p)}
            run = simulate(text, intervals=1)
            wrong = run.status == 0 and {name: run.end(name) for name, value in expected.items() if abs(run.end(name) - value) > 1e-9 * (1 + abs(value))}
            tally.add(run, lambda wrong=wrong: not wrong, seed, wrong, run.words, text)
        tally.check(self)
        self.assertFalse(tally.refused, tally.examples)


class Loops(unittest.TestCase):
    """Values that whens assign and continuous variables that depend on each other: at an event all equations hold."""

    def test_generated(self):
        tally = Tally("loops through whens")
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            n = rng.randrange(1, 5)
            a = [[rng.choice([-3, -2, -0.5, 0, 0.5, 2, 4]) for _ in range(n)] for _ in range(n)]
            b = [[rng.choice([-2, -1, 0, 1, 3]) for _ in range(n)] for _ in range(n)]
            product = [[(i == j) - sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
            if abs(determinant(product)) < 1e-3: continue
            rows = "".join(f"    y[{i + 1}] = {i + 1} + time + {' + '.join(f'({a[i][j]})*x[{j + 1}]' for j in range(n))};\n" for i in range(n))
            if rng.random() < 0.5: rows = rows.replace(";\n    y[", ";\n  end when;\n  when sample(0.25, 0.5) then\n    y[")
            text = (f"model M\n  Real x[{n}], y[{n}];\nequation\n  when sample(0.25, 0.5) then\n{rows}  end when;\n"
                    + "".join(f"  x[{i + 1}] = time + {' + '.join(f'({b[i][j]})*y[{j + 1}]' for j in range(n))};\n" for i in range(n)) + "end M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], intervals=2)
            tally.add(run, lambda run=run, n=n, a=a, b=b: self.is_right(run, n, a, b), seed, text)
        tally.check(self)

    @staticmethod
    def is_right(run, n, a, b):
        y = [run.end(f"y[{i + 1}]") for i in range(n)]
        x = [0.75 + sum(b[i][j] * y[j] for j in range(n)) for i in range(n)]
        return all(abs(y[i] - i - 1.75 - sum(a[i][j] * x[j] for j in range(n))) < 1e-8 * (1 + sum(map(abs, x + y))) for i in range(n))


class Remembered(unittest.TestCase):
    """pre() in continuous equations: after an event it is the current value, in the row after the event, in rates and in later values."""

    def test_generated(self):
        tally = Tally("pre() in continuous equations")
        for seed in seeds(300, quick=30):
            rng = random.Random(seed)
            count = rng.randrange(1, 4)
            edges = sorted(rng.sample(range(1, 19), count))
            values = [rng.randrange(-9, 10) for _ in range(count + 1)]
            kind, gain = rng.choice(("Integer", "discrete Real")), rng.choice((-2, 1, 3))
            branches = " elsewhen ".join(f"x > {edge}/10 then\n    k = {value};" for edge, value in zip(edges, values[1:]))
            text = (f"model M\n  Real x(start = 0, fixed = true), y = pre(k)*x + {gain}*w, w = if pre(k) > 0 then x else 1, z(start = 0, fixed = true);\n"
                    f"  {kind} k(start = {values[0]}, fixed = true);\nequation\n  der(x) = 1;\n  der(z) = pre(k) + pre(k)^2;\n  when {branches}\n  end when;\nend M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], stop_time=2.0, intervals=2)
            wrong = []
            for i, t in enumerate(run.columns.get("time", [])):
                k, x, last = (run.columns[name][i] for name in ("k", "x", "y"))
                expected = k * x + gain * (x if k > 0 else 1)
                if abs(last - expected) > 1e-9 * (1 + abs(expected)):
                    wrong.append((t, last, expected))
            times = [0, *(edge / 10 for edge in edges), 2]
            total = sum((values[i] + values[i] ** 2) * (times[i + 1] - times[i]) for i in range(count + 1))
            if run.status == 0 and abs(run.end("z") - total) > 1e-5 * (1 + abs(total)):
                wrong.append((run.end("z"), total))
            tally.add(run, lambda wrong=wrong: not wrong, seed, wrong, run.words, text)
        tally.check(self)
        self.assertFalse(tally.refused, tally.examples)


def determinant(m):
    return m[0][0] if len(m) == 1 else sum((-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1:] for row in m[1:]]) for j in range(len(m)))


class Ranges(unittest.TestCase):
    """Algorithm sections whose ranges depend on parameters mean the same as sections with numbers."""

    def test_generated(self):
        tally = Tally("ranges by parameters")
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            n, edge, start = rng.randrange(1, 5), rng.uniform(0.1, 0.9), rng.randrange(-4, 5)
            before = rng.choice(["", "  when time > 0.3 then k := pre(k) + 1; end when;\n", "  assert(time < 5, \"late\");\n"])
            body = rng.choice([f"  for j in 1:N loop if j*time > {edge} then z[j] := j*time; end if; end for;\n", "  for j in 1:N loop z[j] := s + j; s := s + z[j]; end for;\n",
                               "  for j in 1:N loop if j > 1 then z[j] := z[j - 1] + time; else z[j] := time; end if; end for;\n"])
            when = f"  when sample(0.1, 0.2) then for j in 1:N loop d := d + j; if {'true' if rng.random() < 0.5 else f'time > {edge}'} then e := e + 1; end if; end for; end when;\n"
            text = (f"model M\n  parameter Integer N = {n};\n  Real z[{n}](each start = {start}), s(start = 1);\n  discrete Real d(start = 2, fixed = true), e(start = 0, fixed = true); Integer k(start = 0, fixed = true);\n"
                    f"algorithm\n{before}{body}{when}{'' if 'k :=' in before else '  when time > 2 then k := 1; end when;'}\n{'' if 's :=' in body else '  s := time;'}\nend M;\n")
            run, plain = simulate(text, intervals=8), simulate(text.replace("1:N", f"1:{n}"), intervals=8)
            tally.add(run, lambda run=run, plain=plain: not plain.status and run.columns == plain.columns and run.end("d") == 2 + 5 * n * (n + 1) / 2, seed, plain.words, text)
        tally.check(self)


class Ends(unittest.TestCase):
    """terminal() in continuous equations."""

    def test_all(self):
        for solver in SOLVERS:
            for text in ("y = if terminal() then 2*x else x;", "y + 1 = if terminal() then 2*x + 1 else x + 1;", "b = terminal(); y = if b then 2*x else x;", "algorithm y := x; if terminal() then y := 2*x; end if;"):
                run = simulate(f"model M\n  Real x(start = 1, fixed = true), y;{' Boolean b;' if 'b =' in text else ''}\nequation\n  der(x) = -x;\n  {text}\nend M;\n", solver=solver, intervals=4)
                self.assertEqual(run.status, 0, run.words)
                x, y = run.columns["x"], run.columns["y"]
                self.assertAlmostEqual(y[-1], 2 * x[-1], 12, (solver, text))
                self.assertLess(max(abs(a - b) for a, b in zip(y[:-1], x)), 1e-12, (solver, text))


class Texts(unittest.TestCase):
    def test_compared(self):
        """Texts of parameters are compared byte by byte, in values of parameters, in equations and in conditions of whens (Modelica
        3.6, section 3.5)."""
        relations = {"==": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            n, b, e = rng.randrange(-2, 12), rng.choice(["true", "false"]), rng.choice(["low", "high"])
            pieces = [("String(n)", str(n)), ("String(b)", b), ("String(e)", e), ("s", "t2"), ("\"t\"", "t"), ("String(n, minimumLength = 3)", f"{n:<3}"), ("String(7)", "7"), ("\"1\"", "1")]
            sides = [rng.choices(pieces, k=rng.choice([1, 1, 2])) for _ in range(2)]
            left, right = ("".join(value for _, value in side) for side in sides)
            relation = rng.choice(list(relations))
            text = f" {relation} ".join(" + ".join(piece for piece, _ in side) for side in sides)
            run = simulate(f"model M\n  type E = enumeration(low, high);\n  parameter Integer n = {n}; parameter Boolean b = {b}; parameter E e = E.{e}; parameter String s = \"t2\";\n"
                           f"  parameter Boolean p = {text}; Boolean q = {text}; Real y = if {text} then time else p2; parameter Real p2 = -1; Integer k(start = 0, fixed = true), c = if p then 1 else 0;\n"
                           f"equation\n  when time > 0.5 and ({text}) then k = pre(k) + 1; end when;\nend M;\n", intervals=1)
            holds = getattr(left, relations[relation])(right)
            with self.subTest(text=text, left=left, right=right):
                self.assertEqual(run.status, 0, run.words)
                self.assertEqual((run.end("c"), run.end("q"), run.end("y"), run.end("k")), (1, 1, 1, 1) if holds else (0, 0, -1, 0))


class Streams(unittest.TestCase):
    """The fluid that flows into a component is the mixture of the flows from the others. Each flow counts as at least 1e-10 (Modelica 3.6, section 15.2), on both sides of the boundary of a
    component."""
    HEAD = """model M
  connector Port flow Real m; stream Real h; Real p; end Port;
  model Pump Port c; parameter Real m = 0, h = 0; Real i = inStream(c.h), a = actualStream(c.h); equation c.m = m; c.h = h; end Pump;
  model Rest Port c; parameter Real h = 0; Real i = inStream(c.h), a = actualStream(c.h); equation c.p = 0; c.h = h; end Rest;
"""

    @staticmethod
    def mixture(ends):
        """The mixture of pairs (flow into the component, value); None if nothing flows from them."""
        sources = [(-m, h) for m, h in ends if m < 0]
        return sum(m * h for m, h in sources) / sum(m for m, _ in sources) if sources else None

    def expected(self, flows, values, inner):
        """The inflow of each end: the inner ones are connected through a connector that is itself one of the ends."""
        ends = dict(enumerate(zip(flows, values)))
        group, others = [ends[k] for k in inner], [ends[k] for k in ends if k not in inner]
        net = sum(m for m, _ in group)
        from_group, from_others = (net, self.mixture(group)), (-net, self.mixture(others))
        return {k: self.mixture([end for end in ((*group, from_others) if k in inner else (*others, *([from_group] if inner else []))) if end is not ends[k]]) for k in ends}

    def test_generated(self):
        tally = Tally("mixtures of streams")
        for seed in seeds(300, quick=30):
            rng = random.Random(seed)
            flows = [rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 3) for _ in range(rng.randrange(2, 6))]
            flows.append(-sum(flows))
            values = [rng.uniform(-1e5, 1e5) for _ in flows]
            inner = {k for k in range(len(flows) - 1) if rng.random() < 0.4}
            pumps = [f"Pump s{k}(m = {m!r}, h = {h!r});" for k, (m, h) in enumerate(zip(flows[:-1], values))]
            boundary = "model Group Port c; %s equation %s end Group; Group g;" % (" ".join(pumps[k] for k in sorted(inner)), " ".join(f"connect(c, s{k}.c);" for k in sorted(inner)))
            outer = " ".join(text for k, text in enumerate(pumps) if k not in inner)
            names = {k: f"g.s{k}" if k in inner else f"s{k}" for k in range(len(pumps))} | {len(pumps): "r"}
            text = (f"{self.HEAD}  {boundary if inner else ''} {outer} Rest r(h = {values[-1]!r});\nequation\n"
                    + "".join(f"  connect(r.c, {name}.c);\n" for k, name in names.items() if k not in inner and name != "r") + ("  connect(r.c, g.c);\n" if inner else "") + "end M;\n")
            run = simulate(text, intervals=1)

            expected = self.expected(flows, values, inner)

            def is_right(run=run, flows=flows, values=values, names=names, expected=expected):
                size = 1e-7 * max(map(abs, values))
                return all(mixed is None or abs(run.end(f"{names[k]}.i") - mixed) < size and abs(run.end(f"{names[k]}.a") - (mixed if flows[k] > 0 else values[k])) < size
                           for k, mixed in expected.items())

            tally.add(run, is_right, seed, run.words, text)
        tally.check(self)


class Surfaces(unittest.TestCase):
    """Two-dimensional tables with one row or column are one-dimensional; constant pieces continue as bilinear ones beyond the ends."""
    HEAD = """model M
  class Surface extends ExternalObject;
    function constructor input Real table[:,:]; input Integer smoothness; input Integer extrapolation; output Surface t;
      external "C" t = ModelicaStandardTables_CombiTable2D_init2("NoName", "NoName", table, size(table, 1), size(table, 2), smoothness, extrapolation, false); end constructor;
    function destructor input Surface t; external "C" ModelicaStandardTables_CombiTable2D_close(t); end destructor;
  end Surface;
  class Curve extends ExternalObject;
    function constructor input Real table[:,:]; input Integer columns[:]; input Integer smoothness; input Integer extrapolation; output Curve t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2("NoName", "NoName", table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness, extrapolation, false); end constructor;
    function destructor input Curve t; external "C" ModelicaStandardTables_CombiTable1D_close(t); end destructor;
  end Curve;
  function height input Surface t; input Real u; input Real v; output Real y; external "C" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v); end height;
  function value input Curve t; input Real u; output Real y; external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, 1, u); end value;
"""

    def test_one_row_or_column(self):
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            places, smoothness, extrapolation = rng.randrange(2, 6), rng.choice([1, 2]), rng.choice([1, 2])
            x = list(itertools.accumulate(rng.choice([0.5, 1, 1.5]) for _ in range(places)))
            y = [rng.randrange(-5, 6) for _ in x]
            column = "[7, 3; " + "; ".join(f"{a}, {b}" for a, b in zip(x, y)) + "]"
            curve = "[" + "; ".join(f"{a}, {b}" for a, b in zip(x, y)) + "]"
            text = (f"{self.HEAD}  parameter Surface s = Surface({column}, {smoothness}, {extrapolation}), r = Surface(transpose({column}), {smoothness}, {extrapolation});\n"
                    f"  parameter Curve t = Curve({curve}, {{2}}, {smoothness}, {extrapolation});\n"
                    f"  Real u = 7*time - 1, a = height(s, u, 4), b = height(r, 4, u), c = value(t, u);\nend M;\n")
            run = simulate(text, intervals=41)
            self.assertEqual(run.status, 0, (text, run.words))
            for a, b, c in zip(run.columns["a"], run.columns["b"], run.columns["c"]):
                self.assertAlmostEqual(a, c, 9, text)
                self.assertAlmostEqual(b, c, 9, text)

    def test_linear_pieces(self):
        """Tables are read between points and beyond the ends, where values are held, continued, or repeated."""
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            axes = [list(itertools.accumulate([rng.uniform(-2, 0)] + [rng.choice([0.5, 1, 1.5]) for _ in range(rng.randrange(1, 5))])) for _ in range(2)]
            heights, extrapolation = [[rng.randrange(-5, 6) for _ in axes[1]] for _ in axes[0]], rng.choice([1, 2, 3])

            def weights(axis, u):
                if extrapolation == 1:
                    u = min(max(u, axis[0]), axis[-1])
                elif extrapolation == 3 and not axis[0] <= u <= axis[-1]:
                    u = axis[0] + (u - axis[0]) % (axis[-1] - axis[0])
                k = max(i for i in range(len(axis) - 1) if i == 0 or axis[i] <= u)
                part = (u - axis[k]) / (axis[k + 1] - axis[k])
                return (k, 1 - part), (k + 1, part)

            rows = [[0, *axes[1]], *([x, *row] for x, row in zip(axes[0], heights))]
            table = "[" + "; ".join(", ".join(map(repr, row)) for row in rows) + "]"
            run = simulate(f"{self.HEAD}  parameter Surface s = Surface({table}, 1, {extrapolation});\n  Real u = 9*time - 3.01, v = 7*time^2 - 3.02, y = height(s, u, v);\nend M;\n", intervals=61)
            self.assertEqual(run.status, 0, (table, run.words))
            for u, v, y in zip(run.columns["u"], run.columns["v"], run.columns["y"]):
                right = sum(a * b * heights[i][k] for i, a in weights(axes[0], u) for k, b in weights(axes[1], v))
                self.assertAlmostEqual(y, right, 8, (table, extrapolation, u, v))

    def test_constant_pieces_beyond_the_ends(self):
        run = simulate(self.HEAD + "  parameter Surface s = Surface([0, 0, 1; 0, 1, 2; 2, 5, 10], 3, 2);\n"
                       "  Real inside = height(s, 1, 0.5), beyond = height(s, 1, 2), corner = height(s, 3, 2);\nend M;\n", intervals=1)
        self.assertEqual((run.status, run.end("inside"), run.end("beyond"), run.end("corner")), (0, 1, 9, 21), run.words)


if __name__ == "__main__":
    unittest.main()
