"""Relations at the start: they have their literal values there, and a relation that becomes true right after is an event right after the start. Generated models have a few relations each, of time or of states, whose sides are equal at the start or not. Their values at
the start, after it and at the end, and how often a when fires, are known. DAEDAL_MODELS=N makes more of them (runs.py)."""
import collections
import itertools
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from runs import SANITIZED, Tally, seeds, simulate, solver_names

SOLVERS = solver_names()

# Differences as functions of the time s since the start: text, derivative for a state, function, and how it leaves 0.
COURSES = [
    ("{s}", "1", lambda s: s),
    ("-{s}", "-1", lambda s: -s),
    ("{s}*(0.5 - {s})", "0.5 - 2*{s}", lambda s: s * (0.5 - s)),
    ("{s}^2", "2*{s}", lambda s: s * s),
    ("-{s}^2", "-2*{s}", lambda s: -s * s),
    ("{s}^3", "3*{s}^2", lambda s: s**3),
    ("sin(4*{s})", "4*cos(4*{s})", lambda s: math.sin(4 * s)),
    ("{s} - 0.3", "1", lambda s: s - 0.3),
    ("0.7 - {s}", "-1", lambda s: 0.7 - s),
    ("0*{s}", "0", lambda s: 0.0),
]
RELATIONS = {"<": lambda a: a < 0, "<=": lambda a: a <= 0, ">": lambda a: a > 0, ">=": lambda a: a >= 0}
STEPS = {"floor": math.floor, "ceil": math.ceil, "integer": math.floor, "sign": lambda a: (a > 0) - (a < 0)}
GRID = [k / 4096 for k in range(1, 4096)]  # the start is the only edge on this grid


def rises(holds, course):
    """How often a relation becomes true after the start."""
    values = [holds(course(0))] + [holds(course(s)) for s in GRID]
    return sum(1 for a, b in zip(values, values[1:]) if b and not a)


def members(rng, start):
    """Declarations, equations, expected values at the start and at the end."""
    time = "time" if start == 0 else f"(time - ({start!r}))"
    lines, equations, first, last = [], [], {}, {}
    for k in range(rng.randrange(2, 6)):
        form, rate, course = rng.choice(COURSES)
        difference = form.format(s=time)
        if rng.random() < 0.5:
            lines.append(f"  Real x{k}(start = {course(0)!r}, fixed = true);")
            equations.append(f"  der(x{k}) = {rate.format(s=time)};")
            difference = f"x{k}"
        if rng.random() < 0.7:
            op = rng.choice(list(RELATIONS))
            holds = RELATIONS[op]
            left, right = ("0", difference) if rng.random() < 0.3 else (difference, "0")
            text = f"{left} {op if right == '0' else op.translate(str.maketrans('<>', '><'))} {right}"
            lines.append(f"  Boolean b{k}; Integer n{k}(start = 0, fixed = true);\n  Real w{k};")
            equations += [f"  b{k} = {text};", f"  when {text} then n{k} = pre(n{k}) + 1; end when;", f"  w{k} = if {text} then 3 else -2;"]
            first |= {f"b{k}": holds(course(0)), f"n{k}": 0, f"w{k}": 3 if holds(course(0)) else -2}
            last |= {f"b{k}": holds(course(GRID[-1])), f"n{k}": rises(holds, course), f"w{k}": 3 if holds(course(GRID[-1])) else -2}
        else:
            name = rng.choice(list(STEPS))
            factor = rng.choice([1, 3, -2])
            lines.append(f"  Real v{k}, z{k}(start = 0, fixed = true);")
            equations += [f"  v{k} = {name}({factor}*({difference}));", f"  when sample({start!r}, 10) then z{k} = v{k}; end when;"]
            first |= {f"v{k}": STEPS[name](factor * course(0)), f"z{k}": STEPS[name](factor * course(0))}
            last |= {f"v{k}": STEPS[name](factor * course(GRID[-1])), f"z{k}": STEPS[name](factor * course(0))}
    return "model M\n" + "\n".join(lines) + "\nequation\n" + "\n".join(equations) + "\nend M;\n", first, last


def differ(columns, expected, row):
    return [f"{name} = {columns[name][row]} for {float(value)}" for name, value in expected.items() if columns[name][row] != float(value)]


class Start(unittest.TestCase):
    def test_generated(self):
        tally = Tally("relations at the start")
        for seed in seeds(300, quick=60):
            rng = random.Random(seed)
            start = rng.choice([0, 0, 0, 1.5, -2, 1000])
            text, first, last = members(rng, start)
            solver = ["auto", *SOLVERS][seed % (1 + len(SOLVERS))]
            run = simulate(text, solver=solver, start_time=float(start), stop_time=start + GRID[-1], intervals=16)
            wrong = run.status == 0 and (differ(run.columns, first, 0) + differ(run.columns, last, -1))
            tally.add(run, lambda wrong=wrong: not wrong, seed, solver, wrong, text)
        tally.check(self)

    def test_undefined_at_the_edge(self):
        """An equation that holds after a time event needs no value exactly at that time."""
        for edge in (0, 0.5):
            for solver in SOLVERS:
                # these step into the pole of the derivative from a point within round-off of it
                if solver in ("ida", "cvode") and edge: continue
                run = simulate(f"model M\n  Real y;\nequation\n  y = if time <= {edge} then -1 else log(time - {edge});\nend M;\n", solver=solver, intervals=4)
                self.assertEqual(run.status, 0, (edge, solver, run.words))
                self.assertEqual(run.columns["y"][0], -1)
                self.assertAlmostEqual(run.end("y"), math.log(1 - edge), 12)

    def test_other_branch_is_undefined(self):
        """Relations that read an if-expression of which one branch has no value at the start, together with many other relations."""
        branches = {"log(x - 0.2)": math.log, "sqrt(x - 0.2)": math.sqrt, "1/sqrt(x - 0.2)": lambda u: u**-0.5, "f(x - 0.2)": lambda u: 1 + u}
        function = "  function f\n    input Real u;\n    output Real y = u;\n  algorithm\n    assert(u > 0, \"u\");\n    while y < 1 loop y := y + 1; end while;\n  end f;\n"
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            count = rng.randint(1, 16)
            chosen = [rng.choice(list(branches)) for _ in range(rng.randint(1, 3))]
            text = f"model M\n{function}  Real x(start = 0), T[{len(chosen)}], z[{count}];\ninitial equation\n  x = 0;\nequation\n  der(x) = 1;\n"
            text += "".join(f"  T[{k + 1}] = if x < 0.3 then 200 else {branch};\n" for k, branch in enumerate(chosen))
            text += f"  for i in 1:{count} loop\n    z[i] = T[1] + i;\n    assert(z[i] >= -50*i, \"z\");\n  end for;\n  assert(T[1] >= -190 and T[1] <= 647, \"T\");\nend M;\n"
            run = simulate(text)
            self.assertEqual(run.status, 0, (text, run.words))
            for k, branch in enumerate(chosen):
                self.assertEqual(run.columns[f"T[{k + 1}]"][0], 200, text)
                self.assertAlmostEqual(run.end(f"T[{k + 1}]"), branches[branch](0.8), 5, text)

    def test_other_branch_has_no_element(self):
        """Sizes decide which branch is taken; the other one has subscripts out of range."""
        for seed in seeds(300, quick=12):
            rng = random.Random(seed)
            count, value = rng.randint(0, 3), rng.randint(1, 9)
            wanted = rng.randint(1, 4)
            branch = rng.choice([f"[table[{wanted}], 1; table, ones(n)]", f"[table[{wanted}], 1]"])
            shape = "fill(0.0, 0)" if not count else "{" + ", ".join(str(value + k) for k in range(count)) + "}"
            text = (f"model M\n  block T\n    parameter Real table[:, :];\n    Real x = table[1, 1]*time;\n  end T;\n"
                    f"  block U\n    parameter Real table[:] = {{1}};\n    T t(table = if n >= {wanted} then {branch} else [{value}, 2]);\n  protected\n"
                    f"    parameter Integer n = size(table, 1);\n  end U;\n  U u(table = {shape});\nend M;\n")
            run = simulate(text)
            self.assertEqual(run.status, 0, (text, run.words))
            self.assertAlmostEqual(run.end("u.t.x"), value + wanted - 1 if count >= wanted else value, 9, text)

    def test_initial_and_when(self):
        """A when that fires at initial() fires again if its relation becomes true right after the start."""
        run = simulate("model M\n  Real x(start = 0, fixed = true); Integer n(start = 0, fixed = true);\nequation\n  der(x) = 1;\n"
                       "  when {initial(), x > 0} then n = pre(n) + 1; end when;\nend M;\n")
        self.assertEqual((run.status, run.columns["n"][0], run.end("n")), (0, 1, 2), run.words)

    def test_reinit_at_the_start(self):
        """A reinit under initial() is an initial equation (section 8.6): it gives a free state its value, agrees with a fixed start
        value, or contradicts it. At later events of the same `when`, it is a reinit."""
        for seed in seeds(300, quick=24):
            rng = random.Random(seed)
            other, value, later = rng.randint(-3, 3), rng.randint(-3, 3), rng.random() < 0.5
            form = rng.choice([f"{value} + y", f"{value} + p", f"{value}", f"2*{value} - z"])
            start = {"y": value + other, "p": value + other, "z": value}.get(form[-1], value)
            fixed, is_algorithm = rng.choice(["none", "agrees", "differs"]), rng.random() < 0.5
            given = {"none": "start = 50", "agrees": f"start = {start}, fixed = true", "differs": f"start = {start + 1}, fixed = true"}[fixed]
            condition = "{initial(), time > 0.5}" if later else "initial()"
            first = rng.random() < 0.5  # or after a branch that cannot fire at the start
            when = f"when {condition} then reinit(x, {form});" if first or later else f"when time > 5 then reinit(x, 7); elsewhen {condition} then reinit(x, {form});"
            text = (f"model M\n  parameter Real p = {other};\n  Real x({given}), y(start = {other}, fixed = true), z = x;\nequation\n  der(x) = 2;\n  der(y) = 0;\n"
                    f"{'algorithm' if is_algorithm else 'equation'}\n  {when} end when;\nend M;\n")
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], intervals=4)
            if form[-1] == "z" and later: continue  # z would jump with x
            self.assertEqual(run.status, 5 if fixed == "differs" else 0, (text, run.words))
            if run.status == 0:
                self.assertAlmostEqual(run.columns["x"][0], start, 6, text)
                self.assertAlmostEqual(run.end("x"), start + (1 if later else 2), 6, text)
        for value, branch in (("pre(x) + 1", ""), ("1", "if time > 0 then ")):
            run = simulate(f"model M\n  Real x;\nequation\n  der(x) = 1;\n  when initial() then {branch}reinit(x, {value});{' end if;' if branch else ''} end when;\nend M;\n")
            self.assertEqual(run.status, 3, run.words)

    def test_both_sides_have_rows(self):
        run = simulate("model M\n  Boolean b;\nequation\n  b = time > 0;\nend M;\n", intervals=2)
        self.assertEqual((run.columns["time"][:2], run.columns["b"][:2]), ([0, 0], [0, 1]))
        run = simulate("model M\n  Boolean b;\nequation\n  b = time >= 0;\nend M;\n", intervals=2)
        self.assertEqual((run.columns["time"], run.columns["b"]), ([0, 0.5, 1], [1, 1, 1]))

    def test_terminal(self):
        """The effects of terminal(), with every solver, at the stop time and when the model ends its run."""
        for solver in SOLVERS:
            for stop, ends, reached in ((1, 2, 1), (2, 0.625, 0.625)):
                run = simulate(f"model M\n  Real x(start = 0, fixed = true); discrete Real r(start = -1, fixed = true); Integer n(start = 0, fixed = true);\n"
                               f"equation\n  der(x) = 2;\n  when terminal() then r = x; n = pre(n) + 1; end when;\n"
                               f"  when time >= {ends} then terminate(\"enough\"); end when;\nend M;\n", solver=solver, stop_time=float(stop))
                self.assertEqual((run.status, run.end("time"), run.end("n")), (0, reached, 1), (solver, stop, run.words))
                self.assertEqual([n for n in run.columns["n"][:-1] if n], [])
                self.assertAlmostEqual(run.end("r"), 2 * reached, 6)

    def test_terminal_generated(self):
        """terminal() by itself, in a vector of conditions, with others, after elsewhen, through a Boolean, in equations, algorithms and
        components; at the stop time or where the model ends its run. It is known how often each when fires, and which value it stores."""
        for seed in seeds(300, quick=24):
            rng = random.Random(seed)
            rate, end = rng.choice((0.5, 1, 2, -1.5)), rng.choice((0.375, 0.75, 1, 1.25))
            last, ends_early, in_component = rate * end, rng.random() < 0.4, rng.random() < 0.4
            declared, lines, expected = [], [], {}
            for i in range(rng.randrange(1, 5)):
                level = rng.choice((0.3, 0.45, 5)) * rate  # passed before the end, or never
                passes = abs(level) < abs(last)
                side = ">" if rate > 0 else "<"
                crossed = f"x {side} {level!r}"
                is_algorithm = rng.random() < 0.4
                sign = ":=" if is_algorithm else "="
                body = f"n{i} {sign} pre(n{i}) + 1; r{i} {sign} x;"
                form, fired, kept = rng.choice([
                    (f"when terminal() then {body} end when;", 1, last), (f"when {{terminal(), {crossed}}} then {body} end when;", 1 + passes, last),
                    (f"when terminal() and {crossed} then {body} end when;", int(passes), last if passes else -7), (f"when terminal() or {crossed} then {body} end when;", 1, level if passes else last),
                    (f"when {crossed} then {body} elsewhen terminal() then n{i} {sign} pre(n{i}) + 10; r{i} {sign} x; end when;", 10 + passes, last),
                    (f"when b{i} then {body} end when;", 1, last), (f"when edge(b{i}) then {body} end when;", 1, last), (f"when not terminal() then {body} end when;", 0, -7)])
                declared.append(f"Integer n{i}(start = 0, fixed = true); discrete Real r{i}(start = -7, fixed = true); Boolean b{i} = terminal(); Real y{i} = if terminal() then 2*x else x;")
                lines.append(f"{'algorithm' if is_algorithm else 'equation'}\n  {form}\n")
                expected.update({f"n{i}": fired, f"r{i}": kept, f"b{i}": 1, f"y{i}": 2 * last})
            lines.append(f"equation\n  der(x) = {rate};\n" + (f"  when time >= {end} then terminate(\"enough\"); end when;\n" if ends_early else ""))
            inside = f"  Real x(start = 0, fixed = true);\n  {' '.join(declared)}\n{''.join(lines)}"
            text = f"model M\nmodel A\n{inside}end A;\n  A a;\nend M;\n" if in_component else f"model M\n{inside}end M;\n"
            run = simulate(text, solver=SOLVERS[seed % len(SOLVERS)], stop_time=end + 1.0 if ends_early else float(end), intervals=8)
            with self.subTest(seed=seed, text=text):
                self.assertEqual(run.status, 0, run.words)
                for name, value in expected.items():
                    column = run.columns[f"a.{name}" if in_component else name]
                    self.assertAlmostEqual(column[-1], value, 6, name)
                    if name[0] == "b":
                        self.assertEqual(max(column[:-1]), 0)

    def test_stop(self):
        """At the stop time relations of time and of states also hold as written, with every solver and in exported programs."""
        for seed in seeds(300, quick=4):
            rng = random.Random(seed)
            stop = rng.choice([1, 2, 0.75, 1.3])
            signs, edges = [rng.choice(list(RELATIONS)) for _ in range(4)], [rng.choice([stop, stop, stop / 2]) for _ in range(4)]
            for k in (1, 3):  # a state is at its edge except for round-off, which these solvers do not notice
                signs[k] = rng.choice([">", "<="]) if edges[k] == stop else signs[k]
            text = (f"model M\n  Real x(start = 0, fixed = true);\n  Boolean b = time {signs[0]} {edges[0]}, c = x {signs[1]} {edges[1]};\n"
                    f"  Integer k = integer(ceil({4 / stop!r}*time)), n(start = 0, fixed = true), m(start = 0, fixed = true);\nequation\n  der(x) = 1;\n"
                    f"  when time {signs[2]} {edges[2]} then n = pre(n) + 1; end when;\n  when x {signs[3]} {edges[3]} then m = pre(m) + 1; end when;\nend M;\n")
            holds = [RELATIONS[sign](stop - edge) for sign, edge in zip(signs, edges)]
            fired = [sign[0] == ">" and held for sign, held in zip(signs, holds)]  # the others hold at the start and never become true
            expected = {"b": holds[0], "c": holds[1], "k": 4, "n": fired[2], "m": fired[3]}
            for solver in SOLVERS:
                run = simulate(text, solver=solver, stop_time=float(stop))
                self.assertEqual({name: run.end(name) for name in expected}, expected, (solver, stop, text, run.words))
            if not SANITIZED and shutil.which("cc"):
                columns = self.exported(text, "--stop-time", repr(stop))
                self.assertEqual({name: columns[name][-1] for name in expected}, expected, (stop, text))

    def test_initial_equations_of_discrete_values(self):
        """Initial equations give states by Booleans that depend on them. A combination of Booleans is a solution if it agrees with the states that it gives. One solution is found; if there
        is none, the model is refused."""
        tally = collections.Counter()
        for seed in seeds(300, quick=40):
            rng = random.Random(seed)
            states, flags = rng.randint(1, 2), rng.randint(1, 3)
            shifts = [[rng.choice((0, 0, rng.uniform(-3, 3))) for _ in range(flags)] for _ in range(states)]
            base, rates, kind = [rng.uniform(-2, 2) for _ in range(states)], [rng.uniform(-0.1, 0.1) for _ in range(states)], rng.choice(("x", "y", "p"))
            tests = [(rng.randrange(states), rng.choice(list(RELATIONS)), rng.uniform(-2, 2)) for _ in range(flags)]
            # the quantity that initial equations give: the state, twice the state, or a parameter that is its start value
            known = {"x": "x{0}", "y": "y{0}", "p": "p{0}"}[kind]
            lines = [{"x": f"  Real x{j};", "y": f"  Real x{j}, y{j} = 2*x{j};", "p": f"  parameter Real p{j}(fixed = false); Real x{j}(start = p{j}, fixed = true);"}[kind] for j in range(states)]
            given = [f"  {known.format(j)} = {base[j]!r} + " + " + ".join(f"(if b{i} then {shifts[j][i]!r} else 0)" for i in range(flags)) + ";" for j in range(states)]
            text = ("model M\n" + "\n".join(lines) + "\n  Boolean " + ", ".join(f"b{i}" for i in range(flags)) + ";\ninitial equation\n" + "\n".join(given) + "\nequation\n" +
                    "\n".join(f"  der(x{j}) = {rates[j]!r};" for j in range(states)) + "\n" + "\n".join(f"  b{i} = x{j} {op} {level!r};" for i, (j, op, level) in enumerate(tests)) + "\nend M;\n")
            solutions = []
            for flips in itertools.product((0, 1), repeat=flags):
                x = [(base[j] + sum(shift for shift, flip in zip(shifts[j], flips) if flip)) / (2 if kind == "y" else 1) for j in range(states)]
                if all(RELATIONS[op](x[j] - level) == bool(flip) for flip, (j, op, level) in zip(flips, tests)):
                    solutions.append(x + list(flips))
            run = simulate(text)
            with self.subTest(seed=seed):
                if run.status == 0:
                    found = [run.columns[name][0] for name in [f"x{j}" for j in range(states)] + [f"b{i}" for i in range(flags)]]
                    self.assertTrue(any(all(abs(a - b) < 1e-9 for a, b in zip(found, x)) for x in solutions), (text, found, solutions))
                tally["found" if run.status == 0 else "refused" if solutions else "none"] += 1
        self.assertLessEqual(tally["refused"], tally["found"] // 10, tally)

    def test_initial_equations_of_whole_numbers(self):
        """Initial equations give states by whole numbers that are steps of them. If some whole numbers near zero agree with the states that they give, a solution is found, with few
        exceptions. The solution found agrees; on an edge the literal value counts."""
        tally = collections.Counter()
        for seed in seeds(300, quick=60):
            rng = random.Random(seed)
            states, count, kind, is_initial = rng.randint(1, 2), rng.randint(1, 2), rng.choice("xyp"), rng.random() < 0.5
            whole = [rng.random() < 0.7 for _ in range(count)]  # the others are Booleans
            shifts = [[rng.choice((0, 1, -1, round(rng.uniform(-1.2, 1.2), 2))) for _ in range(count)] for _ in range(states)]
            base, cubic = [rng.choice((round(rng.uniform(-3, 3), 2), rng.randint(-2, 2))) for _ in range(states)], [kind != "p" and rng.random() < 0.3 for _ in range(states)]
            tests = [(rng.randrange(states), rng.choice((1, 2, 0.5)), rng.choice((round(rng.uniform(-2, 2), 1), 0)), rng.random() < 0.3) for _ in range(count)]
            declared, given, steps = [], [], []
            for j in range(states):
                declared.append({"x": f"Real x{j};", "y": f"Real x{j}, y{j} = 2*x{j};", "p": f"parameter Real p{j}(fixed = false); Real x{j}(start = p{j}, fixed = true);"}[kind])
                total = f"({base[j]!r}" + "".join(f" + ({shift!r})*" + (f"k{i}" if is_whole else f"(if k{i} then 1 else 0)") for i, (shift, is_whole) in enumerate(zip(shifts[j], whole))) + ")"
                given.append(f"{kind}{j} = {2 if kind == 'y' else 1}*" + total + ("^3/10" if cubic[j] else "") + ";")
            for i, (j, factor, level, is_up) in enumerate(tests):
                steps.append(f"k{i} = " + (f"integer(ceil({factor}*x{j} + ({level})))" if whole[i] and is_up else f"integer({factor}*x{j} + ({level}))" if whole[i] else f"x{j} > {level}") + ";")
                declared.append(f"{'Integer' if whole[i] else 'Boolean'} k{i};")
            changes = [f"when time > 5 then k{i} = {f'pre(k{i}) + 1' if whole[i] else f'not pre(k{i})'}; end when;" for i in range(count)]
            text = "\n  ".join(["model M", *declared, "initial equation", *given, *(steps if is_initial else []), "equation", *(f"der(x{j}) = 0;" for j in range(states)), *(changes if is_initial else steps)]) + "\nend M;\n"

            def values(numbers):
                return [(lambda v: v**3 / 10 if cubic[j] else v)(base[j] + sum(shift * k for shift, k in zip(shifts[j], numbers))) for j in range(states)]

            def agree(numbers, slack=0):
                x = values(numbers)
                for k, is_whole, (j, factor, level, is_up) in zip(numbers, whole, tests):
                    found = {(math.ceil if is_up else math.floor)(factor * x[j] + level + d) if is_whole else int(x[j] > level + d) for d in (-slack, 0, slack)}
                    if k not in found:
                        return False
                return True

            is_solvable = any(agree(numbers) for numbers in itertools.product(*(range(-9, 10) if is_whole else (0, 1) for is_whole in whole)))
            run = simulate(text, stop_time=0.1)
            with self.subTest(seed=seed):
                if run.status == 0:
                    numbers = [int(run.columns[f"k{i}"][0]) for i in range(count)]
                    self.assertTrue(agree(numbers, 1e-9), (text, numbers))
                    for j, x in enumerate(values(numbers)):
                        self.assertLess(abs(run.columns[f"x{j}"][0] - x), 1e-6 * (1 + abs(x)), (text, numbers))
                tally["found" if run.status == 0 else "refused" if is_solvable else "none"] += 1
        self.assertLessEqual(tally["refused"], tally["found"] // 20, tally)

    runtimes = {}  # objects of the runtime by their texts, which most programs share

    def runtime(self, folder):
        """Objects of all files except the model's own."""
        texts = tuple((path.name, path.read_bytes()) for path in sorted(folder.glob("*.[ch]")) if path.name != "model.c")
        if texts not in self.runtimes:
            self.runtimes[texts] = tempfile.TemporaryDirectory()
            sources = [folder / name for name, _ in texts if name.endswith(".c")]
            subprocess.run(["cc", "-O0", "-c", *sources], check=True, cwd=self.runtimes[texts].name)
        return pathlib.Path(self.runtimes[texts].name).glob("*.o")

    def exported(self, text, *options):
        """Columns of the exported program."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "m.mo").write_text(text, encoding="utf-8")
            subprocess.run([os.environ["DAEDAL"], "export", folder / "m.mo", "--c", folder, "--standalone", *options, "-q"], check=True)
            subprocess.run(["cc", "-O0", "-o", folder / "m", folder / "model.c", *self.runtime(folder), "-lm"], check=True)
            lines = subprocess.run([folder / "m"], capture_output=True, text=True, check=True).stdout.splitlines()
        names = lines[0].replace('"', "").split(",")
        return {name: [float(line.split(",")[k]) for line in lines[1:]] for k, name in enumerate(names)}

    @unittest.skipIf(SANITIZED or not shutil.which("cc"), "a compiler is needed")
    def test_exported(self):
        for seed in seeds(300, quick=2):
            text, first, last = members(random.Random(1000 + seed), 0)
            columns = self.exported(text, "--stop-time", repr(GRID[-1]), "--intervals", "16")
            self.assertEqual(differ(columns, first, 0) + differ(columns, last, -1), [], text)


if __name__ == "__main__":
    unittest.main()
