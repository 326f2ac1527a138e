"""docs/limits.md: a model made here exceeds the limit of each row of its table. The message must be that of the row, the exit
status 3 (or 2 for an option), and the remedy must raise the limit. Models that take long with the default limits are tested
with small ones, in the same way."""
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = {"memory": "memory=1M", "work": "work=1M", "text": "text=1k"}
SECONDS = 100 if os.environ.get("BUILD_KIND") == "asan" else 20  # of processor time: a model that is not refused by then does not end


def model(body, before=""):
    return f"{before}model M\n{body}\nend M;\n"


def chain(first, link, count):
    return first + "".join(link.format(i=i, j=i - 1) for i in range(1, count + 1))


FUNCTION = "function f input Integer n; output Real y; algorithm {} end f;\n"
NETLIST = "* title\n{}\n.end\n"
# Text of the row -> (model, words of the command after the file); a dict: several files, the first one is given.
ROWS = {
    "memory": (model("Real x[4000]; equation for i in 1:4000 loop x[i] = time; end for;"), ["check"]),
    "instances of classes": (chain("model A0 Real x = 1; end A0;\n", "model A{i} A{j} a, b; end A{i};\n", 30) + "model M A30 a; end M;", ["check"]),
    "base classes that double": (chain("model A0 Real x = 1; end A0;\n", "model A{i} extends A{j}; extends A{j}; end A{i};\n", 30) + "model M extends A30; end M;", ["check"]),
    "records that double": (chain("record A0 Real x; end A0;\n", "record A{i} A{j} a; A{j} b; end A{i};\n", 30) + "model M A30 a; end M;", ["check"]),
    "elements of an array": (model("Real x[100000, 100000];"), ["check"]),
    "equations": (model("Real x; equation for i in 1:100000, j in 1:100000 loop x = i*j; end for;"), ["check"]),
    "products of matrices": (model("Real x[40, 40](each start = 1); equation x*x = identity(40);"), ["check"]),
    "connections": (model("C c[2]; equation for i in 1:100000, j in 1:100000 loop connect(c[1], c[2]); end for;",
                          "connector C Real e; flow Real f; end C;\n"), ["check"]),
    "streams of connectors": ("connector C Real p; flow Real m; stream Real h; end C; model S C c; Real t = inStream(c.h); equation c.m = 1; c.h = 1; end S;\n"
                              "model M S s[60]; equation for i in 2:60 loop connect(s[i].c, s[1].c); end for; end M;", ["check"]),
    "characters of all names": ("model A " + "".join(f"Real x{i} = {i}; " for i in range(100)) + f"end A; model M A {'b' * 20000}; end M;", ["check"]),
    "modifications of a component": ("model A " + "".join(f"parameter Real p{i} = 1; " for i in range(1500)) + "Real x = 1; end A; model M A a("
                                     + ", ".join(f"p{i} = 2" for i in range(1500)) + "); end M;", ["check"]),
    "imports of a class": ("package P " + "".join(f"constant Real c{i} = 1; " for i in range(1500)) + "end P; model M " + "".join(f"import P.c{i}; " for i in range(1500))
                           + "Real x = " + " + ".join(f"c{i}" for i in range(1500)) + "; end M;", ["check"]),
    "names of a function": (model("Real x = f(1);", "function f input Integer n; output Real y; protected " + "".join(f"Real c{i} = n; " for i in range(1500)) + "algorithm y := "
                                  + " + ".join(f"c{i}" for i in range(1500)) + "; end f;\n"), ["check"]),
    "operations of algorithms": (model("parameter Real p = f(1); Real x = p;", FUNCTION.format("y := 0; while true loop y := y + 1; end while;")), ["check"]),
    "elements of a value": (model("parameter Real p = sum(fill(1.0, 100000, 100000)); Real x = p;"), ["check"]),
    "recursion that doubles": (model("parameter Real p = f(60); Real x = p;", FUNCTION.format("y := if n < 2 then n else f(n - 1) + f(n - 2);")), ["check"]),
    "derivatives of an energy": ("model M Real q[300](each start = 1); lagrangian sum(der(q[i])*der(q[j]) for i in 1:300, j in 1:300); end M;", ["check"]),
    "devices of a netlist": (NETLIST.format(chain(".subckt a0 p n\nr1 p n 1\n.ends\n", ".subckt a{i} p n\nx1 p n a{j}\nx2 p n a{j}\n.ends\n", 30) + "x1 1 0 a30\nv1 1 0 1"), ["check"]),
    "files of a netlist": ({"m.cir": NETLIST.format('.include "f20"\nv1 1 0 1\nr1 1 0 1'), "f0": "* end\n",
                            **{f"f{i}": f'.include "f{i - 1}"\n' * 2 for i in range(1, 21)}}, ["check"]),
    "functions of a netlist": (NETLIST.format(chain(".func f0(x) {{x}}\n".replace("{{", "{").replace("}}", "}"), ".func f{i}(x) {{f{j}(x) + f{j}(x + 1)}}\n", 40) + "v1 1 0 {f40(1)}\nr1 1 0 1"), ["check"]),
    "events of a sample": (model("Integer n(start = 0); Real x = 1; equation when sample(0, 1e-12) then n = pre(n) + 1; end when;"), ["simulate"]),
    "events that depend only on time": (model("Real x(start = 1); equation der(x) = mod(time, 1e-12);"), ["simulate"]),
    "search for time events": (model("Real x(start = 1); equation der(x) = " + "abs(-0.3 + " * 80 + "time" + ")" * 80 + ";"), ["simulate"]),
    "rows of events": (model("Real x[40](each start = 1); Integer n(start = 0); equation der(x) = -x; when sin(1e9*time) > 0 then n = pre(n) + 1; end when;"),
                       ["simulate", "--limits", "memory=40M"]),
    "steps of a delay": (model("Real x(start = 1); equation der(x) = -delay(x, 1e-12);"), ["simulate"]),
    "factors of a matrix": (model("Real x[60, 60](each start = 1); equation x*x = identity(60);"), ["check"]),
    "nonlinear equations": (model("Real x[6](each start = 1); equation for i in 1:6 loop sum(exp(k*x[i]*x[j]) for j in 1:6, k in 1:10) = -i; end for;"), ["init"]),
    "characters of a string": (model('parameter String s = f(60); Real x = 1;', 'function f input Integer n; output String s; algorithm s := "ab"; '
                                     "for i in 1:n loop s := s + s; end for; end f;\n"), ["check"]),
    "characters of the flat model": (model("".join(f"Real x{i} = {i}*time;\n" for i in range(100))), ["flatten"]),
    "nested classes": ("".join(f"package P{i} " for i in range(300)) + "model M Real x = 1; end M; " + "".join(f"end P{i}; " for i in reversed(range(300))), ["check"]),
    "nested components": (chain("model A0 Real x = 1; end A0;\n", "model A{i} A{j} a; end A{i};\n", 300) + "model M A300 a; end M;", ["check"]),
    "nested base classes": (chain("model A0 Real x = 1; end A0;\n", "model A{i} extends A{j}; end A{i};\n", 300) + "model M extends A300; end M;", ["check"]),
    "nested blocks of equations": (model("Real x; equation " + "for i in 1:1 loop " * 300 + "x = 1; " + "end for; " * 300), ["check"]),
    "nested blocks of statements": (model("Real x; algorithm " + "for i in 1:1 loop " * 300 + "x := 1; " + "end for; " * 300), ["check"]),
    "nested records": (chain("record A0 Real x; end A0;\n", "record A{i} A{j} a; end A{i};\n", 100) + "model M A100 a; end M;", ["check"]),
    "nested calls": (model("parameter Real p = f(1); Real x = p;", FUNCTION.format("y := f(n) + 1;")), ["check"]),
    "dimensions of an array": (model(f"Real x[{', '.join('1' * 17)}];"), ["check"]),
    "dimensions of arrays in records": (chain("record A0 Real x; end A0;\n", "record A{i} A{j} a[1]; end A{i};\n", 20) + "model M A20 a; end M;", ["check"]),
    "parts of a name": (model("Real x = " + "a." * 400 + "b;"), ["check"]),
    "size of an array": (model("Real x[2147483648];"), ["check"]),
    "whole numbers": (model("Real x = 99999999999999999999;"), ["check"]),
    "size of a Real": (model("Real x = 1e999;"), ["check"]),
    "nested files of a netlist": ({"m.cir": NETLIST.format('.include "m.cir"\nv1 1 0 1\nr1 1 0 1')}, ["check"]),
    "nested subcircuits": (NETLIST.format(".subckt a p n\nx1 p n a\n.ends\nx1 1 0 a\nv1 1 0 1"), ["check"]),
    "nested expressions of a netlist": (NETLIST.format("b1 1 0 v=" + "abs(" * 300 + "1" + ")" * 300 + "\nr1 1 0 1"), ["check"]),
    "output points": (model("Real x(start = 1); equation der(x) = -x;"), ["simulate", "--output-interval", "1e-12"]),
    "length of a pattern": (model("Real x = time;"), ["simulate", "--variables", "(x|" + "y" * 5000 + ")"]),
}


NAMES = list(ROWS)  # tests add further models


def table():
    """The rows of the last table: the limited quantity, its message, the option that raises it."""
    text = (ROOT / "docs/limits.md").read_text()
    rows = re.findall(r"^\| (.*?) \| `(.*)` \| (.*?) \|$", text.split("| what |")[1], re.MULTILINE)
    return [row for row in rows if not row[0].startswith("-")]


def run(what, *more):
    text, words = ROWS[what]
    with tempfile.TemporaryDirectory() as folder:
        files = text if isinstance(text, dict) else {"m.cir" if text.startswith("*") else "m.mo": text}
        for name, content in files.items():
            pathlib.Path(folder, name).write_text(content)
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        return subprocess.run([DAEDAL, words[0], next(iter(files)), *words[1:], *more], cwd=folder, capture_output=True, text=True, preexec_fn=limit)


class Limits(unittest.TestCase):
    def test_every_row_has_a_model(self):
        self.assertEqual([row[0] for row in table()], NAMES)

    def test_rows(self):
        for what, message, raised in table():
            kind = re.search(r"--limits (\w+)", raised)
            small = SMALL[kind[1]] if kind else "nothing is too small"
            with self.subTest(what):
                done = run(what, *(["--limits", small] if f" {small.split('=')[-1]} " in message else []))
                self.assertIn(done.returncode, (2, 3), done.stderr[:2000])
                self.assertIn(message, done.stderr[:4000])
                self.assertNotIn("out of memory", done.stderr)

    def test_defaults(self):
        """Without the option, the limits of the page apply."""
        defaults = dict(re.findall(r"^\| `(\w+)` \|.*\| (\w+) \|$", (ROOT / "docs/limits.md").read_text(), re.MULTILINE))
        self.assertEqual(defaults["work"], "1200M")
        defaults["work of a plan"] = "2400M"  # "twice as much"
        for what, kind in [("elements of an array", "work"), ("events of a sample", "work of a plan"), ("characters of a string", "text"),
                           ("files of a netlist", None), ("records that double", "work")]:
            with self.subTest(what):
                done = run(what)
                if kind is None:  # 2^20 files are few enough
                    self.assertEqual(done.returncode in (0, 3), True, done.stderr)
                    continue
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(f"more than {defaults[kind]} ", done.stderr)

    @unittest.skipUnless(os.environ.get("DAEDAL_TEST_TIER") == "long", "takes seconds a row")
    def test_defaults_of_large(self):
        """With the defaults, any model is accepted or refused within some seconds and little memory, however large it is."""
        large = {
            "product": model("Real x[300, 300](each start = 1); equation x*x = identity(300);"),
            "factors": model("Real x[100, 100](each start = 1); equation transpose(x)*x = identity(100);"),
            "streams": ROWS["streams of connectors"][0].replace("60", "3000"),
            "names": ROWS["characters of all names"][0].replace("b" * 20000, "b" * 20000000),
            "energy": ROWS["derivatives of an energy"][0].replace("300", "2000"),
            "sum": model("Real x = sum(sum(sum(sin(i*j*k*time) for i in 1:300) for j in 1:300) for k in 1:300);"),
            "records": chain("record A0 Real x = 1; end A0;\n", "record A{i} A{j} a, b; end A{i};\n", 28) + "model M parameter A28 a; Real x = 1; end M;",
        }
        for name in ("devices of a netlist", "functions of a netlist"):
            large[name] = ROWS[name][0]
        for name, text in large.items():
            ROWS[name] = (text, ["check"])
            with self.subTest(name):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                done = run(name)
                self.assertEqual(done.returncode, 3, done.stderr[:2000])
                self.assertIn("steps of work", done.stderr)
                self.assertLess(max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss), 3e6)  # kilobytes

    def test_raised(self):
        """A larger limit accepts a model that a smaller one refuses."""
        for what, small, large in [("memory", "memory=1M", "memory=1G"), ("characters of the flat model", "text=1k", "text=1M"),
                                   ("memory", "work=10k", "work=100M, text=1M")]:
            with self.subTest(what):
                self.assertEqual(run(what, "--limits", small).returncode, 3)
                self.assertEqual(run(what, "--limits", large).returncode, 0, run(what, "--limits", large).stderr)

    def test_wrong_limits(self):
        for limits, message in [("memory", "limits are written"), ("speed=3", "there are limits of memory, work and text"),
                                ("work=-1", "a limit is a number"), ("work=1x", "a limit is a number"), ("text=nan", "a limit is a number")]:
            with self.subTest(limits):
                done = run("memory", "--limits", limits)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr)


class Samples(unittest.TestCase):
    def test_undefined(self):
        """A start or an interval of sample without a value is named, for any cause."""
        for undefined in ("sqrt(p - 1)", "log(p)", "1/p", "asin(p + 2)", "1e308*(p + 10)", "(p - 1)^0.5"):
            for what, arguments in (("start", f"{undefined}, 1"), ("interval", f"0, {undefined}")):
                with self.subTest(arguments):
                    ROWS["sample"] = (model(f"parameter Real p = 0; Real x(start = 0); equation when sample({arguments}) then x = time; end when;"), ["simulate"])
                    done = run("sample", "--output-file", "-", "-q")
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr, rf"the {what} of sample\(.*\) is not defined")


class Linear(unittest.TestCase):
    """Large but valid models: twice the size takes about twice the work, which does not depend on the machine."""

    def work(self, text):
        """The smallest power of two of steps that is enough."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.mo")
            path.write_text(text)
            for power in range(10, 34):
                done = subprocess.run([DAEDAL, "check", path, "--limits", f"work={2 ** power}"], capture_output=True, text=True)
                if done.returncode == 0:
                    return power
                self.assertIn("--limits work", done.stderr)
        self.fail("no work is enough")

    def test_growth(self):
        grown = {
            "literals": lambda n: model("type E = enumeration(" + ", ".join(f"e{i}" for i in range(n)) + "); E e = E.e1;"),
            "classes": lambda n: "".join(f"model P{i} Real x = {i}; end P{i};\n" for i in range(n)) + model("".join(f"P{i} p{i};\n" for i in range(n))),
            "bases": lambda n: model("extends A;\n" * n, "model A Real x = 1; end A;\n"),
            "sum": lambda n: model(f"parameter Real p[{n}] = fill(1.0, {n}); Real x = sum(p);"),
        }
        for name, make in grown.items():
            with self.subTest(name):
                self.assertLessEqual(self.work(make(4000)) - self.work(make(1000)), 3)

    def test_inputs(self):
        """100,000 inputs of a function, given by name from the last to the first, take much less time than comparing all pairs
        would, and all arrive."""
        count = range(100000)
        ROWS["inputs"] = (model("Real x = f(" + ", ".join(f"a{i} = {i}" for i in reversed(count)) + ");",
                                "function f " + " ".join(f"input Real a{i};" for i in count) + " output Real y; algorithm y := a1 + 10*a99999; end f;\n"), ["init"])
        done = run("inputs")
        self.assertRegex(done.stdout, r"(?m)^x +999991 ", done.stderr[:2000])

    def test_scaled(self):
        """Members that would take minutes if their time grew with the square of their size. Each command ends within SECONDS,
        with the values of the model."""
        count = 8000
        scaled = {
            "elsewhen": (model("Real x(start = 0, fixed = true); Integer k(start = 0); equation der(x) = 1; when x > 2 then k = -1;\n"
                               + "".join(f"elsewhen x > {0.5 if i == 7 else 3 + i} then k = {i};\n" for i in range(count)) + "end when;"), "simulate", {"k": "7"}),
            "clocks": (model("".join(f"Real u{i} = sample(time, Clock({i % 7 + 1}, 10));\n" for i in range(2000))), "simulate", {"u0": "1"}),
            "coordinates": ("model M Real q[3000](each start = 1); lagrangian sum(der(q[i])^2/2 for i in 1:3000) - sum((q[i] - q[i - 1])^2 for i in 2:3000); end M;",
                            "check", {}),
            "functions": ("".join(f"function f{i} input Real u; output Real y; algorithm y := u + {i}; end f{i};\n" for i in range(count))
                          + model("".join(f"Real x{i} = f{i}(time);\n" for i in range(count))), "check", {}),
            "conditions": (model("Real x(start = 0, fixed = true); Integer k(start = 0); equation der(x) = 1; when {"
                                 + ", ".join(f"x > {2 + i}" for i in range(count)) + "} then k = pre(k) + 1; end when;"), "simulate", {"k": "0"}),
            "minimum": (model(f"Real x[{count}], y = min({{" + ", ".join(f"x[{i + 1}]" for i in range(count)) + f"}}); equation for i in 1:{count} loop x[i] = i*(1 - time/2); end for;"),
                        "simulate", {"y": "0.5"}),
            "product": (model(f"Real x[{count}], y = product(x); equation for i in 1:{count} loop x[i] = if i == 5 then 3*time else 1 + 0*time; end for;"), "simulate", {"y": "3"}),
            "delays": (model(f"Real x(start = 0, fixed = true), y[500]; equation der(x) = 1; for i in 1:500 loop y[i] = delay(x, i/1000); end for;"), "simulate", {}),
            "pipes": (model("Real x(start = 0, fixed = true), y[500], z[500]; equation der(x) = 1; for i in 1:500 loop "
                            "(z[i], y[i]) = spatialDistribution(x, 0, time*i/1000, true, {0.0, 1.0}, {3.0, 3.0}); end for;"), "simulate", {"y[500]": "3"}),
            "terms": (model("Real x = " + " + ".join(["time"] * 200000) + ";"), "init", {}),
        }
        for name, (text, command, last) in scaled.items():
            with self.subTest(name):
                ROWS[name] = (text, [command])
                done = run(name, *(["--output-file", "-", "--intervals", "2", "-q"] if command == "simulate" else []))
                self.assertEqual(done.returncode, 0, done.stderr[:2000])
                if last:
                    names, *rows = [line.split(",") for line in done.stdout.splitlines()]
                    self.assertEqual({column: rows[-1][names.index(column)] for column in last}, last)

    def test_literals(self):
        """More literals than fit into 16 bits, as subscripts."""
        literals = ", ".join(f"e{i}" for i in range(70000))
        ROWS["literals"] = (model("Real x[E]; equation for i in E loop x[i] = Integer(i); end for;", f"type E = enumeration({literals});\n"), ["check"])
        done = run("literals")
        self.assertEqual(done.returncode, 0, done.stderr[:2000])


if __name__ == "__main__":
    unittest.main()
