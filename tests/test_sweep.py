"""Sweeps: points and samples, outputs against single runs, tables, failed points, structure that depends on values; the same numbers on any
number of threads and processes, and after a kill."""
import ast
import csv
import io
import json
import math
import os
import re
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

DAEDAL, SOURCE, KIND = os.environ["DAEDAL"], pathlib.Path(os.environ["SOURCE_DIR"]), os.environ["BUILD_KIND"]
PENDULUM = str(SOURCE / "examples/pendulum.mo")
BALL = str(SOURCE / "examples/events/bouncing_ball.mo")
IS_SLOW = KIND != "release"
WORK = pathlib.Path(tempfile.mkdtemp())

GROWTH = """model Growth
  parameter Real a = 1, b = 2, c = 3;
  parameter Integer n = 2;
  Real x[n](each start = 1, each fixed = true), sum_of_x, y(start = 0, fixed = true);
equation
  for i in 1:n loop der(x[i]) = -a*i*x[i]; end for;
  sum_of_x = sum(x);
  der(y) = b*cos(c*time);
end Growth;
"""


def command(*arguments, status=0):
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def table(*arguments):
    """Rows of a sweep as dictionaries, with numbers as floats."""
    text = command("sweep", *arguments, "--output-file", "-", "-q").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    return [{k: v if k in ("status", "cause") else float(v) for k, v in row.items()} for row in rows]


def draw_conditions(rng):
    """A model whose states are straight lines, with other names, and conditions on them. Returns its text and {condition: first
    time, by g}."""
    lines, names, declared, inside, equations = [], {}, [], [], []
    for k in range(rng.randint(1, 3)):
        lines.append((round(rng.uniform(-2, 2), 3), round(rng.choice((-1, 1)) * rng.uniform(0.7, 3), 3)))
        declared.append(f"Real h{k}(start = {lines[k][0]}, fixed = true);")
        equations.append(f"der(h{k}) = g*({lines[k][1]});")
        names[f"h{k}"] = k, 1
        for a in range(rng.randint(0, 3)):
            other, sign = rng.choice([n for n in names if names[n][0] == k]), rng.choice((1, -1))
            name = rng.choice((f"x{k}{a}", f"part.y{k}{a}", f"part.z{k}{a}[2]"))
            (inside if "." in name else declared).append(f"Real {name.split('.')[-1]};")
            left, right = (name, other) if rng.random() < 0.5 else (other, name)
            equations.append(f"{left} = {'-' if sign < 0 else ''}{right};")
            if name.endswith("]"):
                equations.append(f"{name[:-3]}[1] = 3;")
            names[name] = names[other][0], names[other][1] * sign

    def line(name):
        return [names[name][1] * part for part in lines[names[name][0]]]

    first, clauses = {}, []
    for c in range(rng.randint(1, 4)):
        level, relation, name, other = round(rng.uniform(-1.5, 1.5), 2) or 1.0, rng.choice(("<", "<=", ">", ">=")), rng.choice(list(names)), rng.choice(list(names))
        factor, (start, rate), (more, steeper) = rng.choice((2, 0.5, 3)), line(name), line(other)
        kind = rng.choice(("plain", "plain", "turned", "scaled", "difference", "time"))
        if kind == "difference" and names[name][0] == names[other][0]:
            kind = "plain"
        same = [n for n in names if names[n] == names[name]]
        texts = {"plain": [f"{n} {relation} {level}" for n in same], "turned": [f"{level} {relation} {n}" for n in same], "scaled": [f"{factor}*{n} {relation} {level}" for n in same],
                 "difference": [f"{n} - {other} {relation} {level}" for n in same], "time": [f"time {relation} {abs(level)}"]}[kind]
        if kind == "scaled":
            start, rate = factor * start, factor * rate
        if kind == "difference":
            start, rate = start - more, rate - steeper
        written = texts[same.index(name) if kind != "time" else 0]
        clauses.append((written, rng.randrange(4)))
        for text in texts:
            first[text] = {g: abs(level) if kind == "time" else (level - start) / (g * rate) for g in (1, 2)}
    for c, (written, use) in enumerate(clauses):
        declared.append(("discrete Real n{0}(start = 0, fixed = true);", "Boolean n{0};", "Real n{0};", "Boolean n{0};")[use].format(c))
        equations.append(("when {0} then n{1} = pre(n{1}) + 1; end when;", "n{1} = {0};", "n{1} = if {0} then 1 else 2;", "n{1} = {0} or {2};")[use].format(written, c, rng.choice(clauses)[0]))
    text = f"model Drawn model Part {' '.join(inside)} end Part; parameter Real g = 1; Part part; {' '.join(declared)} equation {' '.join(equations)} end Drawn;"
    return text, {name: {g: t if 0 < t <= 1 else math.nan for g, t in times.items()} for name, times in first.items()}


def model(text, name):
    path = WORK / name
    path.write_text(text)
    return str(path)


class Points(unittest.TestCase):
    def setUp(self):
        self.growth = model(GROWTH, "growth.mo")

    def column(self, values, name="a"):
        return [row[name] for row in table(self.growth, "--vary", f"{name}={values}", "--outputs", "y")]

    def test_values(self):
        self.assertEqual(self.column("1:0.1:2"), [min(1 + k * 0.1, 2) for k in range(11)])
        self.assertEqual(self.column("3:-1:1"), [3, 2, 1])
        self.assertEqual(self.column("1:4"), [1, 2, 3, 4])
        self.assertEqual(self.column("{5, -1, 2.5}"), [5, -1, 2.5])
        self.assertEqual(self.column("log(1,100,3)"), [1, 10, 100])
        self.assertEqual(self.column("lin(0,1,5)"), [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(self.column("7"), [7])

    def test_combinations(self):
        rows = table(self.growth, "--vary", "a={1,2}", "--vary", "b={3,4,5}", "--outputs", "y")
        self.assertEqual([(r["a"], r["b"]) for r in rows], [(a, b) for a in (1, 2) for b in (3, 4, 5)])
        self.assertEqual([r["point"] for r in rows], list(range(1, 7)))

    def test_samples_at_each_combination(self):
        rows = table(self.growth, "--vary", "a={1,2}", "--samples", "4", "--distribution", "b=uniform(0,1)", "--outputs", "y")
        self.assertEqual([r["a"] for r in rows], [1] * 4 + [2] * 4)
        self.assertEqual([r["b"] for r in rows[:4]], [r["b"] for r in rows[4:]])

    def test_sobol(self):
        """Each interval of length 2^-k contains one of 2^k points, in every dimension; each square of a 4x4 grid contains 16 of
        256 points."""
        arguments = [f for name in "abc" for f in ("--distribution", f"{name}=uniform(0,1)")]
        rows = table(self.growth, "--samples", "256", *arguments, "--outputs", "y", "--seed", "5")
        for name in "abc":
            self.assertEqual(sorted(int(r[name] * 256) for r in rows), list(range(256)))
            self.assertEqual(sorted(int(r[name] * 16) for r in rows[:16]), list(range(16)))
        squares = [(int(4 * r["a"]), int(4 * r["b"])) for r in rows]
        self.assertTrue(all(squares.count((i, j)) == 16 for i in range(4) for j in range(4)))

    def test_latin_hypercube(self):
        rows = table(self.growth, "--samples", "50", "--sampling", "lhs", "--distribution", "a=uniform(0,1)", "--distribution",
                     "b=uniform(0,1)", "--outputs", "y")
        for name in "ab":
            self.assertEqual(sorted(int(r[name] * 50) for r in rows), list(range(50)))

    def test_seed(self):
        def draw(seed, kind):
            return [r["a"] for r in table(self.growth, "--samples", "5", "--distribution", "a=normal(0,1)", "--sampling", kind, "--seed",
                                          str(seed), "--outputs", "y")]
        for kind in ("sobol", "lhs", "random"):
            self.assertEqual(draw(1, kind), draw(1, kind))
            self.assertNotEqual(draw(1, kind), draw(2, kind))

    def test_distributions(self):
        """Samples of a distribution are its quantiles at the uniform samples of the same seed."""
        quantiles = {"uniform(2,5)": lambda u: 2 + 3 * u, "normal(1,0.5)": statistics.NormalDist(1, 0.5).inv_cdf,
                     "loguniform(1,100)": lambda u: 100 ** u,
                     "lognormal(1,0.5)": lambda u: math.exp(statistics.NormalDist(1, 0.5).inv_cdf(u)),
                     "triangular(0,1,3)": lambda u: math.sqrt(3 * u) if u < 1 / 3 else 3 - math.sqrt(6 * (1 - u)),
                     "exponential(2)": lambda u: -2 * math.log(1 - u), "weibull(2,3)": lambda u: 3 * math.sqrt(-math.log(1 - u)),
                     "logistic(1,2)": lambda u: 1 + 2 * math.log(u / (1 - u))}
        def draw(distribution):
            return [r["b"] for r in table(self.growth, "--samples", "64", "--distribution", f"b={distribution}", "--outputs", "y")]
        uniform = draw("uniform(0,1)")
        for text, quantile in quantiles.items():
            for u, value in zip(uniform, draw(text)):
                self.assertAlmostEqual(value, quantile(u), delta=1e-12 * (1 + abs(value)), msg=text)

    def test_refused(self):
        for arguments, words in ((["--vary", "q=1:2"], "no variable 'q'"), (["--vary", "a=1:2:0"], "no values to vary"), ([], "nothing to vary"),
                                 (["--vary", "a=1", "--vary", "a=2"], "varied twice"), (["--vary", "a=log(0,1,3)"], "no values"),
                                 (["--samples", "3", "--distribution", "a=norml(0,1)"], "normal(mean,deviation)"),
                                 (["--samples", "3", "--distribution", "a=normal(0,-1)"], "not a distribution"),
                                 (["--distribution", "a=normal(0,1)"], "number of samples"), (["--samples", "3", "--vary", "a=1"], "need a distribution"),
                                 (["--vary", "a=1", "--outputs", "sum_of_xx"], "did you mean `sum_of_x`"),
                                 (["--vary", "a=1", "--outputs", "maxi(y)"], "functions of outputs"),
                                 (["--vary", "a=1", "--outputs", "y@2"], "not between start and stop"),
                                 (["--vary", "a=1", "--output-file", "t.raw"], ".raw")):
            self.assertIn(words, command("sweep", self.growth, *arguments, status=2).stderr)


class Outputs(unittest.TestCase):
    def test_like_single_runs(self):
        """Outputs of a sweep are those of the trajectories of single runs."""
        outputs = "x,max(y),min(y),mean(vx),rms(vx),initial(x),x@1.5,der(vx),lambda@0.7"
        rows = table(PENDULUM, "--vary", "L={0.8,1.3}", "--stop-time", "2", "--tolerance", "1e-9", "--outputs", outputs)
        for row in rows:
            text = command("simulate", PENDULUM, "--override", f"L={row['L']}", "--stop-time", "2", "--tolerance", "1e-9", "--output-file", "-",
                           "-q").stdout
            single = list(csv.DictReader(io.StringIO(text)))
            def course(name):
                return [float(r[name]) for r in single]
            times = course("time")
            def mean(values):
                return sum((b - a) * (u + v) / 2 for a, b, u, v in zip(times, times[1:], values, values[1:])) / 2
            expected = {"x": course("x")[-1], "max(y)": max(course("y")), "min(y)": min(course("y")), "mean(vx)": mean(course("vx")),
                        "rms(vx)": math.sqrt(mean([v * v for v in course("vx")])), "initial(x)": course("x")[0],
                        "x@1.5": course("x")[times.index(1.5)], "der(vx)": course("der(vx)")[-1],
                        "lambda@0.7": course("lambda")[min(range(len(times)), key=lambda k: abs(times[k] - 0.7))]}
            for name, value in expected.items():
                self.assertAlmostEqual(row[name], value, delta=1e-6 * (1 + abs(value)), msg=name)

    def test_events(self):
        rows = table(BALL, "--vary", "g={5,9.81}", "--outputs", "time(event),time(h <= 0),bounces,time")
        for row in rows:
            self.assertAlmostEqual(row["time(event)"], math.sqrt(2 / row["g"]), delta=1e-6)
            self.assertEqual(row["time(event)"], row["time(h <= 0)"])
            self.assertTrue(row["time"] == 3 and row["bounces"] >= 2)

    def test_names_in_conditions(self):
        """A condition can be named by any name of its variables, and as the model writes it; an unknown name or condition is an
        error."""
        names = {"h": 1, "x": 1, "u": -1, "a.b[2]": 1}
        model = WORK / "named.mo"
        for written, (sign, relation, level) in ((n, draw) for n in names for draw in ((1, "<=", 0.5), (2, "<", 0.8))):
            side = relation if names[written] > 0 else relation.replace("<", ">")
            condition = f"{'' if sign == 1 else '2*'}{written} {side} {names[written] * sign * level:g}"
            model.write_text(f"""model Named model A Real b[2]; end A; parameter Real g = 1; Real h(start = 1, fixed = true), x, u; A a; discrete Real n(start = 0, fixed = true);
            equation der(h) = -g; x = h; u = -x; a.b = {{1, -u}}; when {condition} then n = pre(n) + 1; end when; end Named;""")
            rows = table(str(model), "--vary", "g={1,2}", "--outputs", f"time({condition}),time({condition.replace(' ', '')}),n")
            for row in rows:
                self.assertAlmostEqual(row[f"time({condition})"], (1 - level) / row["g"], delta=1e-6, msg=condition)
                self.assertEqual(row[f"time({condition.replace(' ', '')})"], row[f"time({condition})"])
            if names[written] > 0 and sign == 1:
                for name in ("h", "x", "a.b[2]"):
                    other = condition.replace(written, name)
                    self.assertAlmostEqual(table(str(model), "--vary", "g={1}", "--outputs", f"time({other})")[0][f"time({other})"], 1 - level, delta=1e-6)
            for wrong, said in (("foo > 3", "'foo'"), ("hh <= 0.5", "'hh'"), ("h > 7", "no event has the condition 'h > 7'"), ("n", "no event has")):
                done = command("sweep", str(model), "--vary", "g={1}", "--outputs", f"time({wrong})", "--output-file", "-", "-q", status=2)
                self.assertIn(said, done.stderr)
        for wrong in ("der(u)", "max(der(n))", "der(g)@0.5"):
            done = command("sweep", str(model), "--vary", "g={1}", "--outputs", wrong, "--output-file", "-", "-q", status=2)
            self.assertIn(f"the equations have no 'der({wrong.split('(')[-1].split(')')[0]})'", done.stderr)

    def test_drawn_conditions(self):
        """First times of conditions on straight lines, as written and under other names of their variables, are the closed forms; a
        condition that never changes has none. A condition or name that the model does not have is an error."""
        for seed in range(300 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 25):
            text, first = draw_conditions(random.Random(seed))
            path = model(text, "drawn.mo")
            rows = table(path, "--vary", "g={1,2}", "--outputs", ",".join(f"time({name})" for name in first))
            with self.subTest(seed=seed, text=text):
                for row in rows:
                    for name, times in first.items():
                        found, right = row[f"time({name})"], times[row["g"]]
                        self.assertTrue(math.isnan(found) if math.isnan(right) else abs(found - right) <= 1e-6, (name, found, right))
                wrong = random.Random(seed).choice([name + "77" for name in first] + ["nobody > 1"])
                self.assertIn("error", command("sweep", path, "--vary", "g={1}", "--outputs", f"time({wrong})", "--output-file", "-", "-q", status=2).stderr)

    def test_default_is_final_values(self):
        rows = table(PENDULUM, "--vary", "g=9.81")
        self.assertEqual(list(rows[0]), ["point", "g", "x", "y", "vx", "vy", "lambda", "status", "cause"])
        rows = table(PENDULUM, "--vary", "g=9.81", "--variables", "v.")
        self.assertEqual(list(rows[0]), ["point", "g", "vx", "vy", "status", "cause"])

    def test_netlists_and_energies(self):
        rows = table(str(SOURCE / "examples/circuits/rc.cir"), "--vary", "v(out)={0,1}", "--outputs",
                     "v(out),max(v(out))")
        self.assertEqual([r["status"] for r in rows], ["ok", "ok"])
        rows = table(str(SOURCE / "examples/energy/pendulum.mo"), "--vary", "L={1,2}", "--energy", "--stop-time", "1")
        self.assertEqual([r["status"] for r in rows], ["ok", "ok"])

    def test_trajectories(self):
        command("sweep", PENDULUM, "--vary", "L={1,2}", "--stop-time", "1", "--outputs", "x@0.35,x", "--trajectories", "runs", "--output-file",
                "runs.csv", "--intervals", "10")
        names = sorted(os.listdir(WORK / "runs"))
        self.assertEqual(names, ["point_1.csv", "point_2.csv"])
        with open(WORK / "runs" / names[1]) as file:
            single = list(csv.DictReader(file))
        self.assertEqual(len(single), 12)
        with open(WORK / "runs.csv") as file:
            self.assertEqual(list(csv.DictReader(file))[1]["x"], single[-1]["x"])


class Structure(unittest.TestCase):
    def test_columns_of_all_sizes(self):
        """Variables that only some points have are columns, empty for the others."""
        for first, last in ((1, 4), (3, 5), (2, 2)):
            rows = table(model(GROWTH, "growth.mo"), "--vary", f"n={first}:{last}", "--tolerance", "1e-9")
            self.assertEqual(len(rows), last - first + 1)
            for row in rows:
                own = [f"x[{i}]" for i in range(1, int(float(row["n"])) + 1)]
                others = [f"x[{i}]" for i in range(int(float(row["n"])) + 1, last + 1)]
                self.assertTrue(all(math.isfinite(float(row[name])) for name in own), row)
                self.assertTrue(all(math.isnan(float(row[name])) for name in others), row)

    def test_structural_parameter(self):
        rows = table(model(GROWTH, "growth.mo"), "--vary", "n=1:4", "--vary", "a={0.5,1}", "--outputs", "sum_of_x", "--tolerance", "1e-9")
        for row in rows:
            exact = sum(math.exp(-row["a"] * i) for i in range(1, int(row["n"]) + 1))
            self.assertAlmostEqual(row["sum_of_x"], exact, delta=1e-7)

    def test_plan_that_depends_on_values(self):
        rows = table(PENDULUM, "--vary", "L={0.5,1,2}", "--stop-time", "0.5", "--method", "strangeness", "--outputs", "x,y")
        for row in rows:
            self.assertEqual(row["status"], "ok")
            self.assertAlmostEqual(math.hypot(row["x"], row["y"]), row["L"], delta=1e-5)

    CLUTCH = """model Clutch parameter Real period = 0.2, k = 1; Real x(start = 1, fixed = true), v, f; Boolean is_free;
        equation is_free = sin(6.283185307179586*time/period) > 0; der(x) = v;
        if is_free then der(v) = -k*x + f; f = -0.1*v; else v = 0.3; f = der(v) + x; end if; initial equation v = 0; end Clutch;"""
    REWRITTEN = """model R parameter Real p = 1, q = 1, a = 3; Real x(start = 1), y, z(start = 0, fixed = true);
        equation der(x) + p*der(y) + x = sin(q*time); 2*der(x) + 2*p*der(y) + y = 2; der(z) = -a*z + x; end R;"""

    def structures(self, path, vary, *arguments):
        """The number of structures in the report of a sweep; its table equals the tables of one thread and of single runs."""
        tables = []
        for threads in ("1", "4"):
            done = command("sweep", path, "--vary", vary, "--outputs", "x", "--threads", threads, "--output-file", "shared.csv",
                           "--json", "-", "--stop-time", "1", *arguments)
            with open(WORK / "shared.csv") as file:
                tables.append(file.read())
        self.assertEqual(*tables)
        rows = tables[0].split()
        for row in (rows[1], rows[len(rows)//2], rows[-1]):
            name, value = vary.split("=")[0], row.split(",")[1]
            command("simulate", path, "--override", f"{name}={value}", "--output-file", "alone.csv", "--stop-time", "1", *arguments)
            with open(WORK / "alone.csv") as file:
                alone = list(csv.DictReader(file))
            self.assertAlmostEqual(float(row.split(",")[2]), float(alone[-1]["x"]), delta=1e-6)
        return json.loads(done.stdout)["structures"]

    def test_structures_are_derived_once(self):
        """Points share the plans of structures, whether an event or a parameter value leads to a structure."""
        clutch, rewritten = model(self.CLUTCH, "clutch.mo"), model(self.REWRITTEN, "rewritten.mo")
        for points, period in ((3, 0.2), (40, 0.2), (40, 0.03)):
            vary = f"k=1:{2/(points - 1)!r}:3"
            self.assertEqual(self.structures(clutch, vary, "--override", f"period={period}"), 3)  # all branches, and each of two
        for method in ("dummy", "underlying"):
            self.assertLessEqual(self.structures(clutch, "k=1:0.5:3", "--method", method), 3)
        self.assertEqual(self.structures(rewritten, "a=1:0.1:5"), 1)  # a does not affect the rewriting
        self.assertEqual(self.structures(rewritten, "p=1:0.1:1.5"), 6)  # p does

    def test_failed_points(self):
        rows = table(PENDULUM, "--vary", "L={1,0,2}", "--outputs", "x")
        self.assertEqual([r["status"] for r in rows], ["ok", "integration", "ok"])
        self.assertTrue(rows[1]["cause"] and math.isnan(rows[1]["x"]) and not rows[0]["cause"])
        done = command("sweep", PENDULUM, "--vary", "L=0", "--json", "-", "--output-file", "none.csv", status=6)
        report = json.loads(done.stdout)
        self.assertEqual((report["failed"], report["failures"][0]["point"]), (1, 1))

    def test_plan_from_a_point(self):
        """The model's own values need not have initial values."""
        text = "model M parameter Real a = -1; Real x(start = 1); equation x^2 = a + time; end M;"
        rows = table(model(text, "root.mo"), "--vary", "a={-2,1,4}", "--outputs", "x")
        self.assertEqual([r["status"] == "ok" for r in rows], [False, True, True])
        self.assertAlmostEqual(rows[2]["x"], math.sqrt(5), delta=1e-9)


class Files(unittest.TestCase):
    def read_npy(self, path):
        data = path.read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x03\x00")
        length = struct.unpack("<I", data[8:12])[0]
        self.assertEqual((12 + length) % 64, 0)
        header = ast.literal_eval(data[12:12 + length].decode())
        sizes = "".join({"<i8": "q", "<f8": "d", "<i4": "i"}.get(kind) or kind[1:] + "s" for _, kind in header["descr"])
        rows = list(struct.iter_unpack("<" + sizes, data[12 + length:]))
        self.assertEqual(header["shape"], (len(rows),))
        return [name for name, _ in header["descr"]], rows

    def read_mat(self, path):
        data, matrices = path.read_bytes(), {}
        while data:
            kind, rows, columns, _, length = struct.unpack("<5i", data[:20])
            name, size = data[20:19 + length].decode(), 1 if kind == 51 else 8
            end = 20 + length + rows * columns * size
            body = data[20 + length:end]
            matrices[name] = rows, columns, body if size == 1 else struct.unpack(f"<{rows * columns}d", body)
            data = data[end:]
        return matrices

    def test_same_table_in_each_format(self):
        for ending in ("csv", "npy", "mat"):
            command("sweep", PENDULUM, "--vary", "L={1,0,2}", "--outputs", "x,max(y)", "--output-file", f"table.{ending}")
        with open(WORK / "table.csv") as file:
            rows = list(csv.DictReader(file))
        names, numpy_rows = self.read_npy(WORK / "table.npy")
        self.assertEqual(names, list(rows[0]))
        mat = self.read_mat(WORK / "table.mat")
        self.assertEqual(mat["data"][:2], (3, 3))
        for k, row in enumerate(rows):
            numbers = [float(row[name]) for name in ("L", "x", "max(y)")]
            self.assertEqual(str(list(numpy_rows[k][1:4])), str(numbers))
            self.assertEqual(str([mat["data"][2][k + 3 * c] for c in range(3)]), str(numbers))
            self.assertEqual(numpy_rows[k][5].rstrip(b"\0").decode(), row["cause"])
        self.assertEqual([r[4] for r in numpy_rows], [0, 6, 0])
        self.assertEqual(mat["status"][2], (0, 6, 0))

    def test_pictures(self):
        command("sweep", PENDULUM, "--samples", "20", "--distribution", "L=normal(1,0.1)", "--outputs", "x,y", "--plot", "fan.svg", "--output-file", "fan.csv")
        command("sweep", PENDULUM, "--vary", "L=1:0.5:3", "--vary", "g=log(1,10,5)", "--outputs", "x,max(y)", "--plot", "map.svg", "--output-file", "map.csv")
        for name, words in (("fan.svg", "5 to 95 %"), ("map.svg", "max(y)")):
            root = xml.etree.ElementTree.parse(WORK / name).getroot()
            self.assertIn(words, [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")])
        self.assertEqual(list(table(PENDULUM, "--vary", "L=1", "--outputs", "x")[0]), ["point", "L", "x", "status", "cause"])


class Sameness(unittest.TestCase):
    COUNT = 60 if IS_SLOW else 200
    ARGUMENTS = [PENDULUM, "--vary", f"L=lin(0.5,2,{COUNT})", "--stop-time", "5", "--outputs", "x,lambda"]

    @classmethod
    def setUpClass(cls):
        command("sweep", *cls.ARGUMENTS, "--threads", "1", "--output-file", "one.csv")
        cls.expected = (WORK / "one.csv").read_bytes()
        command("sweep", *cls.ARGUMENTS, "--threads", "1", "--output-file", "whole.csv", "--trajectories", "whole.h5")
        cls.trajectories = (WORK / "whole.h5").read_bytes()

    def run_to(self, path, *arguments, status=0):
        done = command("sweep", *self.ARGUMENTS, "--output-file", path, *arguments, status=status)
        return done.stderr

    def test_threads(self):
        for threads in (2, 3, 16):
            self.run_to("more.csv", "--threads", str(threads))
            self.assertEqual((WORK / "more.csv").read_bytes(), self.expected)

    @unittest.skipUnless(shutil.which("mpirun") and not IS_SLOW, "no mpirun")
    def test_process_that_ends_early(self):
        """One of two processes is interrupted with most of its points left: there is no table without them."""
        start = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n", "2", "sh", "-c"]
        words = f"{DAEDAL} sweep {PENDULUM} --vary 'L=lin(0.5,2,8000)' --stop-time 5 --outputs x --threads 1 --output-file early.csv"
        both = f"if [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then exec timeout -s INT 1 {words}; else exec {words}; fi"
        done = subprocess.run([*start, both], capture_output=True, text=True, cwd=WORK)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertFalse((WORK / "early.csv").exists(), done.stderr)

    @unittest.skipUnless(shutil.which("mpirun") and not IS_SLOW, "no mpirun")
    def test_processes(self):
        doctor = subprocess.run([DAEDAL, "doctor"], capture_output=True, text=True).stdout
        start = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n", "3", DAEDAL, "sweep"]
        done = subprocess.run([*start, *self.ARGUMENTS, "--output-file", "mpi.csv", "--trajectories", "mpi.h5"], capture_output=True, text=True, cwd=WORK)
        if not re.search(r"found +MPI", doctor):
            self.assertIn("without MPI", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((WORK / "mpi.csv").read_bytes(), (WORK / "whole.csv").read_bytes())
        self.assertEqual((WORK / "mpi.h5").read_bytes(), self.trajectories)

    def interrupt(self, path, number, *arguments):
        """Starts a sweep and ends it when some points are done."""
        process = subprocess.Popen([DAEDAL, "sweep", *self.ARGUMENTS, "--output-file", path, *arguments], cwd=WORK, stderr=subprocess.PIPE)
        journal = WORK / (path + ".part")
        before = journal.stat().st_size if journal.exists() else 0
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > before + 3000):
            time.sleep(0.002)
        process.send_signal(number)
        process.communicate()
        return process.returncode

    def test_kill_and_resume(self):
        self.assertEqual(self.interrupt("killed.csv", signal.SIGKILL, "--threads", "2"), -signal.SIGKILL)
        self.assertFalse((WORK / "killed.csv").exists())
        journal = WORK / "killed.csv.part"
        record = 216 + 2 * 8
        finished = (journal.stat().st_size - 24) // record
        self.assertEqual(self.interrupt("killed.csv", signal.SIGINT, "--resume"), 130)
        again = (journal.stat().st_size - 24) // record
        self.assertGreater(again, finished)
        with open(journal, "ab") as file:  # the rest of a record after a kill in its middle
            file.write(b"\1" * (record - 7))
        words = self.run_to("killed.csv", "--resume", "--threads", "3")
        self.assertIn(f"already finished: {again}, new: ", words)
        self.assertEqual((WORK / "killed.csv").read_bytes(), self.expected)
        self.assertFalse(journal.exists())

    def test_collection_after_a_kill(self):
        """After a kill, a file of all trajectories is completed to the same content; points whose trajectory is missing are run again."""
        self.assertEqual(self.interrupt("part.csv", signal.SIGKILL, "--trajectories", "part.h5"), -signal.SIGKILL)
        self.assertFalse((WORK / "part.h5").exists())
        min((WORK / "part.h5.part").glob("point_*.mat")).unlink()
        self.run_to("part.csv", "--trajectories", "part.h5", "--resume")
        self.assertEqual((WORK / "part.h5").read_bytes(), self.trajectories)
        self.assertFalse((WORK / "part.h5.part").exists())

    def test_other_sweep_is_not_resumed(self):
        self.interrupt("other.csv", signal.SIGKILL)
        for more in (["--tolerance", "1e-7"], ["--vary", "g=1:2"], ["--override", "g=5"], ["--method", "minimal"]):
            words = self.run_to("other.csv", "--resume", *more, status=2)
            self.assertIn("another sweep", words)
        self.run_to("other.csv")
        self.assertEqual((WORK / "other.csv").read_bytes(), self.expected)

    def test_resume_without_points(self):
        self.run_to("fresh.csv", "--resume")
        self.assertEqual((WORK / "fresh.csv").read_bytes(), self.expected)


if __name__ == "__main__":
    try:
        unittest.main()
    finally:
        shutil.rmtree(WORK)
