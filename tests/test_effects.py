"""Calls with effects: an event makes each call once, in the order of the text, with the values of the settled event. Generated whens and initial
sections write lines to a file; the expected lines are those of the same statements run in Python. DAEDAL_MODELS=N makes N models."""
import csv
import random
import subprocess
import sys
import tempfile
import os
import pathlib
import unittest

import runs

HEAD = """impure function write
  input String text; input String file;
  external "C" ModelicaInternal_print(text, file);
end write;
impure function say
  input String text; input Integer number;
algorithm
  write(text + " " + String(number), "out.txt");
end say;
impure function twice
  input String text; input Integer number;
algorithm
  for i in 1:2 loop
    if number > i then say(text + String(i), number); end if;
  end for;
end twice;
impure function ask
  input String text; input Integer number; output Integer result;
algorithm
  say(text, number);
  result := number + 1;
end ask;
"""


class Script:
    """The statements of an algorithm, as text and as a Python function of the values before."""

    def __init__(self, draw, names):
        self.draw, self.names, self.count = draw, names, 0

    def value(self):
        name, number = self.draw.choice(self.names), self.draw.randrange(4)
        return self.draw.choice([(str(number), lambda v: number), (name, lambda v: v[name]), (f"{name} + {number}", lambda v: v[name] + number)])

    def statement(self, depth):
        self.count += 1
        tag, (text, value), target = f"s{self.count}", self.value(), self.draw.choice(self.names)
        kind = self.draw.choice(["say", "say", "ask", "ask", "twice", "set", "if", "for"][:6 if depth > 1 else 8])
        if kind == "say":
            return f'say("{tag}", {text});', lambda v, out: out.append(f"{tag} {value(v)}")
        if kind == "twice":
            return f'twice("{tag}", {text});', lambda v, out: out.extend(f"{tag}{i} {value(v)}" for i in (1, 2) if value(v) > i)
        if kind == "ask":
            return f'{target} := ask("{tag}", {text});', lambda v, out: (out.append(f"{tag} {value(v)}"), v.update({target: value(v) + 1}))
        if kind == "set":
            return f"{target} := {text};", lambda v, out: v.update({target: value(v)})
        body, run = self.body(depth + 1, 2)
        if kind == "if":
            bound = self.draw.randrange(6)
            other, run_other = self.body(depth + 1, 1)
            return (f"if {text} > {bound} then {body} else {other} end if;",
                    lambda v, out: run(v, out) if value(v) > bound else run_other(v, out))
        times = self.draw.randrange(1, 4)

        def loop(v, out):
            for _ in range(times):
                run(v, out)
        return f"for i in 1:{times} loop {body} end for;", loop

    def body(self, depth, most):
        pairs = [self.statement(depth) for _ in range(self.draw.randrange(1, most + 1))]

        def run(v, out):
            for _, step in pairs:
                step(v, out)
        return " ".join(text for text, _ in pairs), run


def algorithm(number):
    """A model with a when of several branches, and the lines that it writes."""
    draw = random.Random(f"effects {number}")
    names = ["a", "b", "c"]
    script = Script(draw, names)
    values, lines = {name: draw.randrange(3) for name in names}, []
    declared = "".join(f"  Integer {name}(start = {values[name]}, fixed = true);\n" for name in names)
    first, run_first = script.body(0, 4)
    other, run_other = script.body(0, 3)
    later, run_later = script.body(0, 3)
    for tick in range(4):
        (run_first if tick % 2 == 0 else run_other)(values, lines)
        run_later(values, lines)
    text = (f"{HEAD}model M\n{declared}  Integer n(start = 0, fixed = true);\nequation\n  when sample(0, 1) then n = pre(n) + 1; end when;\nalgorithm\n"
            f"  when mod(n, 2) > 0.5 then {first} elsewhen n > 0 and mod(n, 2) < 0.5 then {other} end when;\n"
            f"  when sample(0, 1) then {later} a := a; b := b; c := c; end when;\nend M;\n")
    return text, lines


def equations(number):
    """Equations in a when: calls in the order of the text, except that a call waits for the values that it needs."""
    draw = random.Random(f"effects of equations {number}")
    count = draw.randrange(2, 6)
    needs = [draw.choice([None] + [j for j in range(count) if j < i or draw.random() < 0.3 and j != i]) for i in range(count)]
    for i in range(count):  # no loops
        seen, at = {i}, needs[i]
        while at is not None and at not in seen:
            seen.add(at)
            at = needs[at]
        if at is not None:
            needs[i] = None
    value, lines, left = {}, [], list(range(count))
    while left:
        i = next(i for i in left if needs[i] is None or needs[i] in value)
        left.remove(i)
        argument = i if needs[i] is None else value[needs[i]]
        lines.append(f"s{i} {argument}")
        value[i] = argument + 1
    declared = "".join(f"  Integer v{i}(start = 0, fixed = true);\n" for i in range(count))
    body = "".join(f'    v{i} = ask("s{i}", {i if needs[i] is None else f"v{needs[i]}"});\n' for i in range(count))
    return f"{HEAD}model M\n{declared}equation\n  when time > 0.5 then\n{body}  end when;\nend M;\n", lines


def settled(number):
    """The arguments have the values of the settled event, although they follow from a column that the event changes."""
    draw = random.Random(f"settled effects {number}")
    gain, limit = draw.randrange(2, 6), draw.randrange(1, 4)
    text = (f'{HEAD}model M\n  Real x(start = 0, fixed = true);\n  Real y;\n  Boolean b(start = false, fixed = true);\nequation\n  der(x) = 1;\n'
            f'  y = if b then {gain}*{limit} else x;\n  when x > {limit} then\n    b = true;\n  end when;\n'
            f'  when x > {limit} + 0.5 then\n    terminate("settled");\n  end when;\nalgorithm\n'
            f'  when b then\n    say("y", integer(y + 0.5));\n    if y > {limit} + 0.5 then say("big", 1); else say("small", 0); end if;\n  end when;\n'
            f'initial algorithm\n  say("one", 1);\n  say("two", 2);\nend M;\n')
    return text, ["one 1", "two 2", f"y {gain * limit}", "big 1"]


def a_text(draw, depth):
    """A String expression in the values of the run, and a Python function of these values that gives its text."""
    kind = draw.randrange(8 if depth < 3 else 6)
    if kind == 0:
        word = draw.choice(["k = ", "", "x", " "])
        return f'"{word}"', lambda v: word
    if kind == 1:
        name = draw.choice(["k", "p"])
        return f"String({name})", lambda v: str(v[name])
    if kind == 2:
        width, left = draw.randrange(1, 9), draw.random() < 0.5
        return (f"String(k, minimumLength = {width}, leftJustified = {str(left).lower()})",
                lambda v: str(v["k"]).ljust(width) if left else str(v["k"]).rjust(width))
    if kind == 3:
        return "String(b)", lambda v: str(v["b"]).lower()
    if kind == 4:
        return "String(r)", lambda v: f"{v['r']:g}"
    if kind == 5:
        return "String(e)", lambda v: v["e"]
    (first, one), (second, other) = a_text(draw, depth + 1), a_text(draw, depth + 1)
    if kind == 6:
        return f"{first} + {second}", lambda v: one(v) + other(v)
    bound = draw.randrange(3)
    return f"(if k > {bound} then {first} else {second})", lambda v: one(v) if v["k"] > bound else other(v)


def texts(number):
    """Texts that equations and algorithms compose, as arguments of calls in whens."""
    draw = random.Random(f"texts of effects {number}")
    pairs = [a_text(draw, 0) for _ in range(draw.randrange(1, 4))]
    p, lines = draw.randrange(100), []
    for k in range(1, 4):
        values = {"k": k, "p": p, "b": k == 2, "r": k / 2, "e": ["low", "mid", "high"][k - 1]}
        lines += [value(values) + "." for _, value in pairs]
    calls = "".join(f'    write({text} + ".", "out.txt");\n' for text, _ in pairs)
    is_algorithm = draw.random() < 0.5
    count = "k := pre(k) + 1;" if is_algorithm else "k = pre(k) + 1;"
    text = (f"{HEAD}model M\n  type E = enumeration(low, mid, high);\n  parameter Integer p = {p};\n  Integer k(start = 0, fixed = true);\n  Boolean b = k == 2;\n"
            f"  Real r = k/2;\n  E e = if k < 2 then E.low elseif k < 3 then E.mid else E.high;\n{'algorithm' if is_algorithm else 'equation'}\n"
            f"  when sample(0.5, 1) then\n    {count}\n{calls}  end when;\nend M;\n")
    return text, lines


def sliding(number):
    """The when acts once, although the solution slides along its condition from then on."""
    draw = random.Random(f"sliding effects {number}")
    level, up, down = (round(draw.uniform(0.2, 2), 3) for _ in range(3))
    count = draw.randrange(1, 4)
    calls = " ".join(f'say("s{k}", n);' for k in range(count))
    text = (f"{HEAD}model M\n  Real x(start = {level} + 1, fixed = true);\n  Boolean b = x < {level};\n  Integer n(start = 0, fixed = true);\n"
            f"equation\n  der(x) = if b then {up} else -{down};\n"
            f"  when b then\n    n = pre(n) + 1;\n  end when;\nalgorithm\n  when b then\n    {calls}\n  end when;\nend M;\n")
    return text, [f"s{k} 1" for k in range(count)]


class Effects(unittest.TestCase):
    def check(self, family, number):
        text, lines = family(number)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "m.mo").write_text(text)
            stop = {"algorithm": 3.5, "equations": 1, "settled": 5, "texts": 3, "sliding": 8}[family.__name__]
            done = subprocess.run([os.environ["DAEDAL"], "simulate", "m.mo", "-q", "--stop-time", str(stop), "--allow-external", "-o", "r.csv"], cwd=folder,
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, f"{family.__name__} {number}: {done.stderr}\n{text}")
            path = pathlib.Path(folder, "out.txt")
            written = path.read_text().splitlines() if path.exists() else []
            self.assertEqual(written, lines, f"{family.__name__} {number}\n{text}")

    def test_generated(self):
        for number in runs.seeds(60, 8):
            for family in (algorithm, equations, settled, sliding, texts):
                self.check(family, number)

    def test_texts_read_back(self):
        for number in runs.seeds(20, 4):
            text, _ = texts(number)
            with tempfile.TemporaryDirectory() as folder:
                flat = [text]
                for _ in range(2):
                    pathlib.Path(folder, "m.mo").write_text(flat[-1])
                    done = subprocess.run([os.environ["DAEDAL"], "flatten", "m.mo"], cwd=folder, capture_output=True, text=True, timeout=100, check=False)
                    self.assertEqual(done.returncode, 0, f"{number}: {done.stderr}\n{flat[-1]}")
                    flat.append(done.stdout)
                self.assertEqual(flat[1], flat[2])

    def test_failures_end_the_run(self):
        for when, code in (("time > 0.5", 6), ("initial()", 5), ("terminal()", 6)):
            for calls in range(1, 4):
                lines = "".join(f'    write("{k}", "no/such/folder.txt");\n' for k in range(calls))
                with tempfile.TemporaryDirectory() as folder:
                    pathlib.Path(folder, "m.mo").write_text(f"{HEAD}model M\nequation\n  when {when} then\n{lines}  end when;\nend M;\n")
                    done = subprocess.run([os.environ["DAEDAL"], "simulate", "m.mo", "--allow-external", "-o", "r.csv"], cwd=folder, capture_output=True,
                                          text=True, timeout=100, check=False)
                    self.assertEqual(done.returncode, code, f"{when} {calls}: {done.stderr}")
                    self.assertIn("a call of `write` fails", done.stderr)

    def test_calls_without_leave_are_left_out(self):
        """Each call has one warning that names the option; the run continues, and its other values are right. A run that needs a result of such a call ends."""
        remove = 'impure function remove\n  input String file;\n  external "C" ModelicaInternal_removeFile(file);\nend remove;\n'
        order = 'impure function order\n  input String text;\n  output Integer r;\n  external "C" r = ModelicaInternal_system(text);\nend order;\n'
        calls = {'say("s", n)': "say", 'write("s", "out.txt")': "write", 'remove("kept.txt")': "remove", 'order("rm kept.txt")': "order"}
        for when in ("x > 0.5", "initial()", "{x > 0.25, x > 0.75}", "terminal()"):
            for call, name in calls.items():
                for kind in ("equation", "algorithm"):
                    if kind == "equation" and name == "order":
                        continue
                    count = "n = pre(n) + 1" if kind == "equation" else "n := pre(n) + 1"
                    model = f"model M\n  Real x(start = 0, fixed = true);\n  Integer n(start = 0, fixed = true);\nequation\n  der(x) = 1;\n{kind}\n"
                    done, row, kept = self.without_leave(f"{HEAD}{remove}{order}{model}  when {when} then\n    {call};\n    {count};\n  end when;\n  annotation(experiment(StopTime = 1));\nend M;\n")
                    self.assertEqual(done.returncode, 0, f"{when} {call} {kind}: {done.stderr}")
                    self.assertEqual(len([line for line in done.stderr.splitlines() if f"call of `{name}` is left out" in line and "--allow-external" in line]), 1, done.stderr)
                    self.assertTrue(kept)
                    self.assertEqual(row["n"], 2 if "{" in when else 1, f"{when} {call} {kind}")
        done, _, kept = self.without_leave(f"{order}model M\n  Integer m(start = 0, fixed = true);\nequation\n  when time > 0.5 then\n    m = order(\"rm kept.txt\");\n"
                                           "  end when;\n  annotation(experiment(StopTime = 1));\nend M;\n")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("--allow-external", done.stderr)
        self.assertIn("the value of m is not defined", done.stderr)
        self.assertTrue(kept)

    def without_leave(self, text):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "m.mo").write_text(text)
            kept = pathlib.Path(folder, "kept.txt")
            kept.write_text("")
            done = subprocess.run([os.environ["DAEDAL"], "simulate", "m.mo", "-o", "r.csv"], cwd=folder, capture_output=True, text=True, timeout=100, check=False)
            row = {}
            if done.returncode == 0:
                with open(pathlib.Path(folder, "r.csv"), encoding="utf-8") as file:
                    row = {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}
            return done, row, kept.exists() and not pathlib.Path(folder, "out.txt").exists()

    def test_printed_lines_are_counted(self):
        for count in (1, 3, 19, 20, 21, 50):
            with tempfile.TemporaryDirectory() as folder:
                calls = "".join(f'    write("line " + String({k}*p), "");\n' for k in range(count))
                pathlib.Path(folder, "m.mo").write_text(f"{HEAD}model M\n  parameter Integer p = 1;\nequation\n  when time > 0.5 then\n{calls}  end when;\nend M;\n")
                done = subprocess.run([os.environ["DAEDAL"], "simulate", "m.mo", "-o", "r.csv"], cwd=folder, capture_output=True, text=True, timeout=100, check=False)
                self.assertEqual(done.stderr.count("the model prints: line"), min(count, 20), done.stderr)
                self.assertEqual(f"the model prints {count - 20} more" in done.stderr, count > 20, done.stderr)

    def test_random_numbers_differ(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "m.mo").write_text(
                'impure function draw input Integer id; output Real y; external "C" y = ModelicaRandom_impureRandom_xorshift1024star(id); end draw;\n'
                "model M discrete Real a, b; equation when sample(0, 1) then a = draw(1); b = draw(1); end when; end M;\n")
            done = subprocess.run([os.environ["DAEDAL"], "simulate", "m.mo", "-q", "--stop-time", "2", "-o", "r.csv"], cwd=folder,
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [row.split(",") for row in pathlib.Path(folder, "r.csv").read_text().splitlines()[1:]]
            self.assertGreaterEqual(len({number for row in rows for number in row[1:]}), 6)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
