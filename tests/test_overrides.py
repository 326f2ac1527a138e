"""Overrides: a run with them equals a run of the text that contains these values; invalid ones are refused."""
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()

# One parameter of each kind: name, declaration without value, value in the text, and how another one is generated.
MODEL = """package P
type Mode = enumeration(off, on, 'a,b');
record R Integer n; Real g[2]; end R;
model M
  parameter Real k(min = -50, max = 2*top) = {k};
  parameter Real top = 25;
  parameter Integer n = {n};
  parameter Integer sizes[2] = {sizes};
  parameter Boolean b = {b};
  parameter Boolean branch = {branch};
  parameter Boolean folded = {folded} annotation(Evaluate = true);
  parameter Mode mode = {mode};
  parameter Mode kind = {kind};
  parameter String s = {s};
  parameter Real m[:] = {m};
  parameter Real w[2,3] = {w};
  parameter R r = R({rn}, {rg});
  parameter Real depends = 2*k;
  parameter Real 'odd, = name' = {odd};
  parameter Real stop = {stop};
  final parameter Real closed = 1;
  constant Real c = 2;
  input Real u(start = {u});
  Real x[n](each start = 1, each fixed = true);
  Real first[sizes[1]], second[sizes[2]], third[r.n];
  Real y(min = -100, max = 100), z, v, area, free(start = {free}, fixed = true);
equation
  for i in 1:n loop der(x[i]) = -i*x[i]/10; end for;
  for i in 1:sizes[1] loop first[i] = i; end for;
  for i in 1:sizes[2] loop second[i] = r.g[2]*i; end for;
  for i in 1:r.n loop third[i] = r.g[1]; end for;
  if branch then y = k; else y = depends; end if;
  if kind == Mode.on then v = 1; elseif kind == Mode.off then v = sum(m); else v = 3; end if;
  z = (if b then 1 else 2) + (if folded then 10 else 20) + (if mode == Mode.on then 100 else 200) + (if s == "one, two" then 1000 else 2000);
  area = sum(w) + w[2,1] + 'odd, = name' + u;
  der(free) = 1;
  annotation(experiment(StopTime = stop));
end M;
end P;
"""


def number(rng):
    return rng.choice((repr(round(rng.uniform(-40, 40), 3)), str(rng.randint(-9, 9)), "%.2e" % rng.uniform(-40, 40)))


def array(rng, count):
    return "{" + ",".join(number(rng) for _ in range(count)) + "}"


def boolean(rng):
    return rng.choice(("true", "false"))


def literal(rng):
    return rng.choice(("Mode.off", "Mode.on", "Mode.'a,b'"))


KINDS = {
    "k": number, "odd": number, "free": number, "u": number,
    "n": lambda rng: str(rng.randint(0, 5)),
    "sizes": lambda rng: "{%d,%d}" % (rng.randint(1, 4), rng.randint(1, 4)),
    "b": boolean, "branch": boolean, "folded": boolean, "mode": literal, "kind": literal,
    "s": lambda rng: rng.choice(('"one, two"', '"{}"', '"a\\"b"', '"x"')),
    "m": lambda rng: array(rng, rng.randint(1, 5)),
    "w": lambda rng: "{%s,%s}" % (array(rng, 3), array(rng, 3)),
    "rn": lambda rng: str(rng.randint(1, 4)),
    "rg": lambda rng: array(rng, 2),
    "stop": lambda rng: str(rng.choice((0.5, 1, 2))),
}
NAMES = {"odd": "'odd, = name'", "rn": "r.n", "rg": "r.g"}


def drawn(rng):
    return {name: draw(rng) for name, draw in KINDS.items()}


def text_of(values):
    text = MODEL
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def simulate(text, overrides=None, *options):
    path, report, table = (os.path.join(WORK, name) for name in ("m.mo", "r.json", "t.csv"))
    with open(path, "w") as file:
        file.write(text)
    arguments = [DAEDAL, "simulate", path, "--json", report, "--output-file", table, "--intervals", "2", *options]
    done = subprocess.run(arguments + (["--override", overrides] if overrides else []), capture_output=True, text=True)
    with open(report) as file:
        done.json = json.load(file)
    with open(table) as file:
        done.head = file.readline()
    return done


def elements(rng, name, value):
    """An override of an array, element by element, if its size is known."""
    parts = value.replace("{", "").replace("}", "").split(",")
    if name == "w":
        names = ["w[%d,%d]" % (i, j) for i in (1, 2) for j in (1, 2, 3)]
    else:
        names = ["%s[%d]" % (NAMES.get(name, name), i + 1) for i in range(len(parts))]
    items = ["%s=%s" % pair for pair in zip(names, parts)]
    rng.shuffle(items)
    return items


def written(rng, name, value):
    """One way to write the override."""
    if name in ("sizes", "w", "rg") and rng.random() < 0.5:
        return elements(rng, name, value)
    if name in ("mode", "kind"):
        value = rng.choice((value, "P." + value, value[len("Mode."):]))
    if value == '"x"':
        value = rng.choice((value, "x"))
    if name in ("sizes", "w", "m"):
        value = value.replace(",", rng.choice((",", " , ")))
    return [NAMES.get(name, name) + rng.choice(("=", " = ", "= ")) + value]


class Values(unittest.TestCase):
    def test_as_if_written(self):
        rng = random.Random(5)
        for _ in range(40):
            before, after = drawn(rng), drawn(rng)
            changed = rng.sample(sorted(KINDS), rng.randint(1, 5))
            after = {name: after[name] if name in changed else before[name] for name in KINDS}
            items = sum((written(rng, name, after[name]) for name in changed), [])
            overrides = rng.choice((",", ", ", " ,")).join(items)
            found, wanted = simulate(text_of(before), overrides), simulate(text_of(after))
            self.assertEqual(found.returncode, 0, (overrides, found.stderr))
            self.assertEqual(found.json["final"], wanted.json["final"], overrides)
            self.assertEqual(found.json["end_time"], wanted.json["end_time"], overrides)
            self.assertEqual(found.head, wanted.head, overrides)

    def test_later_counts(self):
        text = text_of(drawn(random.Random(1)))
        for overrides, names in (("k=1,k=2,branch=true", {"y": 2}),
                                 ("kind=off,m={1,2,3},m[2]=10", {"v": 14}),
                                 ("kind=off,m[1]=9,m={1,2}", {"v": 3}),
                                 ("sizes={3,3},sizes[2]=4,r.g[2]=1", {"second[4]": 4, "first[3]": 3}),
                                 ("sizes[1]=4,sizes={2,2},r.g[2]=1", {"second[2]": 2, "first[2]": 2, "first[3]": None})):
            final = simulate(text, overrides).json["final"]
            for name, value in names.items():
                self.assertEqual(final.get(name), value, overrides)

    def test_what_only_the_new_model_has(self):
        text = text_of(dict(drawn(random.Random(2)), n="2", stop="1"))
        final = simulate(text, "x[4]=3,n=4,x[1]=2").json["final"]
        self.assertAlmostEqual(final["x[4]"], 3*2.718281828**-0.4, places=5)
        self.assertNotEqual(simulate(text, "x[4]=3").returncode, 0)
        self.assertEqual(sorted(name for name in simulate(text, "n=3,x={1,2,3}").json["final"] if name[0] == "x"),
                         ["x[1]", "x[2]", "x[3]"])

    def test_other_commands(self):
        path = os.path.join(WORK, "o.mo")
        with open(path, "w") as file:
            file.write(text_of(dict(drawn(random.Random(3)), n="1")))
        for verb in ("init", "reduce", "compare"):
            done = subprocess.run([DAEDAL, verb, path, "--override", "n=4"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue("x[4]" in done.stdout or verb == "compare", verb)


class Netlists(unittest.TestCase):
    """Names in either case, numbers with the suffixes of SPICE."""

    DECK = "divider\nV1 in 0 10\nR1 in Out 1k\nR2 out 0 1k\n.tran 1m 1m\n.end\n"

    def out(self, override):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "divider.cir"
            path.write_text(self.DECK)
            done = subprocess.run([DAEDAL, "simulate", path, "--override", override, "--variables", "V(OUT)", "--output-file", "-", "-q"],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout.splitlines()[-1].split(",")[-1] if done.stdout else done.stderr

    def test_values(self):
        for name in ("r2", "R2"):
            for text, value in (("4k", 4e3), ("0.004MEG", 4e3), ("4kOhm", 4e3), ("4e3", 4e3), ("4000000m", 4e3), ("1.5K", 1.5e3), ("2e-3meg", 2e3)):
                status, end = self.out(f"{name}={text}")
                self.assertEqual(status, 0, end)
                self.assertAlmostEqual(float(end), 10 * value / (1e3 + value), 9, text)
        self.assertAlmostEqual(float(self.out("V1=-2.5")[1]), -1.25, 12)
        self.assertEqual(self.out("r2=5x0")[0], 2)

    DOORS = {"sweep": ["--vary", "{R2}=1e3:1e3:3e3", "--outputs", "max({V(OUT)}),{V(OUT)}@5e-4"],
             "linearize": ["--outputs", "{V(OUT)}", "--json"],
             "fit": ["--data", "data.csv", "--parameters", "{R2}", "--weights", "{V(OUT)}=2", "--json"],
             "simulate": ["--sensitivity", "{R2}", "--variables", "{V(OUT)}", "--absolute-tolerance", "{V(OUT)}=1e-9", "--invariant", "{V(IN)}", "--json"]}

    def test_every_option_that_takes_names(self):
        def run(verb, case):
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "rc.cir").write_text("rc\nV1 in 0 10\nR1 in Out 1k\nR2 out 0 1k\nC1 out 0 1u\n.tran 0.1m 1m\n.end\n")
                (pathlib.Path(folder) / "data.csv").write_text(f"time,{case('V(OUT)')}\n0,5\n5e-4,6\n1e-3,6.1\n")
                options = [re.sub(r"\{(.*?)\}", lambda found: case(found[1]), option) for option in self.DOORS[verb]]
                done = subprocess.run([DAEDAL, verb, "rc.cir", "-q", *(["-o", "-"] if verb == "sweep" else []), *options], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, (options, done.stderr))
                return re.sub(r'"\w*second\w*": *({[^}]*}|[^,}]*)', "", done.stdout.lower())
        for verb in self.DOORS:
            self.assertEqual(run(verb, str.upper), run(verb, str.lower), verb)
            self.assertIn("v(out)", run(verb, str.lower), verb)

    def test_a_netlist_has_no_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "divider.cir"
            path.write_text(self.DECK)
            done = subprocess.run([DAEDAL, "linearize", path, "--inputs", "V1"], capture_output=True, text=True)
            self.assertEqual((done.returncode, "no Real input" in done.stderr), (2, True), done.stderr)


class Refused(unittest.TestCase):
    def test_what_does_not_fit(self):
        text = text_of(drawn(random.Random(4)))
        for overrides, words in (
                ("n=1.5", "Integer"), ("n=true", "Integer"), ("n=1e300", "Integer"), ("n=-1", "overrides"),
                ("sizes={1,2.5}", "Integer"), ("sizes[1]=x", "Integer"),
                ("b=7", "Boolean"), ("b=yes", "Boolean"), ("branch=2", "Boolean"),
                ("mode=99", "Mode"), ("mode=0", "Mode"), ("mode=Mood.on", "Mode"), ("mode=offf", "off, on"), ("kind=1.5", "Mode"),
                ("k=true", "Real"), ("k=nan", "Real"), ("k=inf", "Real"), ("k=1e999", "Real"), ("k=1 2", "Real"), ("k=0x10", "Real"),
                ("k=-51", "below its min, -50"), ("k=51", "above its max, 50"), ("top=20,k=41", "above its max, 40"),
                ("y=-101", "below its min"), ("free=x", "Real"),
                ("m=1", "array"), ("m={{1}}", "array"), ("w={1,2}", "[2,3]"), ("w={{1,2},{3,4}}", "[2,3]"), ("w={{1,2,3},{4,5}}", "w"),
                ("w={{1,2,3},{4,5,6}", "w"), ("w={}", "w"), ("k={1}", "scalar"), ("sizes={1,2,3}", "sizes"), ("x={1,2,3,4,5,6,7}", "x"),
                ("closed=2", "final"), ("c=3", "constant"),
                ("s=\"a", "unterminated"), ("k", "name=value"), ("=1", "name=value"), ("k=", "k"), ("k=1,,top=2", "name=value"),
                ("dependss=1", "`depends`"), ("brnach=true", "`branch`"), ("szies={1,2}", "`sizes`"), ("r.m=2", "`r.n`"), ("m[9]=1", "m[9]")):
            done = simulate(text, overrides)
            self.assertEqual(done.returncode, 2, (overrides, done.stderr))
            self.assertIn(words, done.stderr, overrides)

    def test_bounds_that_move(self):
        text = text_of(dict(drawn(random.Random(6)), k="1"))
        self.assertEqual(simulate(text, "k=51").returncode, 2)
        self.assertEqual(simulate(text, "k=51,top=26").returncode, 0)


DISCRETE = """package P
type Mode = enumeration(off, on, 'a,b');
model D
  discrete Real g(start = {g}, fixed = true);
  Integer k(start = {k}, fixed = true, max = 1000);
  Boolean b(start = {b}, fixed = true);
  Mode mode(start = {mode}, fixed = true);
  discrete Integer m[2](start = {m}, each fixed = true);
  Integer first(start = {first});
  Real x(start = {x}, fixed = true);
equation
  der(x) = g + k/10 + (if b then 3 else 0) + (if mode == Mode.on then 5 else 0) + m[1] - m[2]/2;
  when sample(0.125, 0.25) then
    g = pre(g)/2 + x;
    k = pre(k) + (if pre(b) then 2 else 1);
    b = not pre(b);
    mode = if pre(mode) == Mode.off then Mode.on else Mode.off;
    m = {pre(m[2]), pre(m[1]) + 1};
  end when;
  when {initial(), x > 2} then first = pre(first) + 1; end when;
end D;
end P;
"""
DISCRETE_KINDS = {
    "g": number, "k": lambda rng: str(rng.randint(-9, 9)), "b": boolean, "mode": literal,
    "m": lambda rng: "{%d,%d}" % (rng.randint(-9, 9), rng.randint(-9, 9)), "first": lambda rng: str(rng.randint(-9, 9)), "x": number,
}


class Discrete(unittest.TestCase):
    """Discrete variables start from given values as if the model had them, for every way to give them."""

    def drawn(self, rng):
        return {name: draw(rng) for name, draw in DISCRETE_KINDS.items()}

    def text(self, values):
        text = DISCRETE
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    def overrides(self, values):
        return ",".join("%s=%s" % item for item in values.items())

    def path(self, name, text=None):
        path = os.path.join(WORK, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def command(self, *arguments):
        done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def rows(self, name):
        with open(self.path(name)) as file:
            return list(csv.DictReader(file))

    def same(self, found, expected, context):
        self.assertEqual(found.keys(), expected.keys())
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, msg=(name, context))

    def test_as_if_written(self):
        for seed in range(12):
            rng = random.Random(seed)
            own, given = self.text(self.drawn(rng)), self.drawn(rng)
            expected = simulate(self.text(given)).json["final"]
            for method in ("dummy", "strangeness"):
                found = simulate(own, self.overrides(given), "--method", method).json["final"]
                self.same(found, expected, (method, own, given))
            path, values = self.path("d.mo", own), self.path("values")
            self.command("init", path, "--override", self.overrides(given), "--write", values)
            self.same(simulate(own, None, "--start-values", values).json["final"], expected, (own, given))

    def test_sweep(self):
        for seed in range(4):
            rng = random.Random(seed)
            values = self.drawn(rng)
            path = self.path("d.mo", self.text(values))
            self.command("sweep", path, "--vary", "k=1:1:3", "--vary", "b=0:1:1", "--outputs", "x,first", "--output-file", self.path("s.csv"))
            rows = self.rows("s.csv")
            self.assertEqual(len(rows), 6)
            for row in rows:
                point = dict(values, k=str(int(float(row["k"]))), b="true" if float(row["b"]) else "false")
                self.assertAlmostEqual(float(row["x"]), simulate(self.text(point)).json["final"]["x"], msg=point)

    def test_start_from(self):
        """A run begins with the values of a result at a time between two events, and time continues from there."""
        names = ("g", "k", "b", "mode", "m[1]", "m[2]")
        for seed in range(8):
            rng = random.Random(seed)
            path = self.path("d.mo", self.text(self.drawn(rng)))
            time = rng.choice((0.2, 0.3, 0.5, 0.7))
            self.command("simulate", path, "--quiet", "--output-file", self.path("whole.csv"))
            self.command("simulate", path, "--quiet", "--output-file", self.path("rest.csv"), "--start-from",
                         "%s@%g" % (self.path("whole.csv"), time), "--start-time", str(time), "--stop-time", "1", "--intervals", "1")
            whole = [row for row in self.rows("whole.csv") if float(row["time"]) <= time][-1]
            for name in names:
                self.assertAlmostEqual(float(self.rows("rest.csv")[0][name]), float(whole[name]), msg=name)

    def test_refused(self):
        path = self.path("d.mo", self.text(self.drawn(random.Random(1))))
        for name, value in (("k", "2.5"), ("k", "true"), ("b", "2"), ("mode", "none"), ("k", "1001")):
            done = subprocess.run([DAEDAL, "simulate", path, "--quiet", "--override", name + "=" + value], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, (name, value))
            if value == "1001":
                continue
            values = self.path("values", "(%s(start = %s))" % (name, value))
            done = subprocess.run([DAEDAL, "simulate", path, "--quiet", "--start-values", values], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, (name, value))
            self.assertIn("not a value of", done.stderr)

    def test_clocked(self):
        path = self.path("c.mo", """model C Integer n(start = 3); Real x(start = 1, fixed = true);
            equation when Clock(0.1) then n = previous(n) + 1; end when; der(x) = -x; end C;""")
        values = self.path("values")
        self.command("init", path, "--write", values)
        with open(values) as file:
            self.assertNotIn("n(", file.read())
        self.command("simulate", path, "--quiet", "--start-values", values, "--output-file", self.path("c.csv"))
        done = subprocess.run([DAEDAL, "simulate", path, "--quiet", "--override", "n=4"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("equations of the model determine", done.stderr)


class Inputs(unittest.TestCase):
    def model(self, count):
        inputs = "".join("  input Real u%d(start = %d);\n" % (i, i) for i in range(count))
        return "model I\n%s  input Boolean on;\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = %s;\nend I;\n" % (
            inputs, " + ".join("u%d" % i for i in range(count)))

    def test_named_and_recorded(self):
        for count in (1, 3, 9):
            for method in ("dummy", "strangeness"):
                done = simulate(self.model(count), None, "--method", method)
                named = [i for i in range(count) if "`u%d`" % i in done.stderr]
                self.assertEqual(named, list(range(min(count, 5))), done.stderr)
                self.assertEqual("and %d more" % (count + 1 - 5) in done.stderr, count + 1 > 5, done.stderr)
                for i in range(count):
                    self.assertEqual(done.json["final"]["u%d" % i], i)
                    self.assertIn("u%d," % i, done.head)
                self.assertEqual(done.json["final"]["on"], 0)

    def test_given(self):
        done = simulate(self.model(2), "u0=3,on=true")
        self.assertIn("input `u1` has no value", done.stderr)
        self.assertEqual(done.json["final"]["u0"], 3)
        self.assertEqual(done.json["final"]["on"], 1)
        self.assertNotIn("warning", simulate(self.model(2), "u0=3,u1=4,on=true").stderr)

    def test_given_twice(self):
        """An input that has values over time, by an option or in the model, accepts no other value."""
        path, table = os.path.join(WORK, "twice.csv"), os.path.join(WORK, "t.csv")
        with open(path, "w") as file:
            file.write("time,u0\n0,1\n1,2\n")
        bound = self.model(1).replace("start = 0);", "start = 0) = sin(time);", 1)
        for text, given in ((self.model(1), "u0=2"), (self.model(1), "u0=sin(time)"), (self.model(1), path), (bound, None)):
            name = os.path.join(WORK, "m.mo")
            with open(name, "w") as file:
                file.write(text)
            options = [DAEDAL, "simulate", name, "--quiet", "--output-file", table] + (["--input", given] if given else [])
            self.assertEqual(subprocess.run(options, capture_output=True).returncode, 0, given)
            done = subprocess.run(options + ["--override", "u0=7"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, (given, done.stderr))
            self.assertIn("already has values", done.stderr)


if __name__ == "__main__":
    unittest.main()
