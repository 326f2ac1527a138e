"""Methods of index reduction through the command: the same trajectory from all of them on every example, drift where it should be, printed systems
that can be simulated again, and bad use."""
import csv
import json
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from runs import seeds, simulate

DAEDAL = os.environ["DAEDAL"]
EXAMPLES = pathlib.Path(os.environ["SOURCE_DIR"]) / "examples"
PAPERS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/cases/papers"
METHODS = ["dummy", "minimal", "projection", "baumgarte", "ggl", "ggl1", "underlying", "overdetermined", "none"]
SLOW = os.environ.get("BUILD_KIND") == "asan"

# Every example runs to the end of its own experiment with its own tolerance, except these.
SHORTENED = {"wheelset": 1} | ({"wheelset": 0.02, "pendulum_large": 20, "pendulum_small": 20, "paraboloid": 10} if SLOW else {})
LONG = {"transamp", "water", "wheelset"} if SLOW else set()
NAMES = sorted({path.stem for path in EXAMPLES.glob("*.mo")} - LONG)
CANNOT = {("wheelset", "none")}  # index 3 with contact forces in the conditions of events
ENFORCING = ["dummy", "minimal", "ggl", "overdetermined"]
# For transamp, methods that integrate the remaining equations evaluate derivatives at output points only as accurately as they
# interpolate.
RESIDUAL = {("transamp", "minimal"): 1e-7}
CONSTRAINED = ["andrews", "caraxis", "double_pendulum", "paraboloid", "pendulum", "pendulum2", "slider_crank", "spherical_pendulum", "triple_pendulum"]
QUADRATIC = ["caraxis", "paraboloid", "pendulum", "pendulum2", "pendulum_large", "pendulum_small", "spherical_pendulum"]


def run(*arguments):
    return subprocess.run([DAEDAL, *map(str, arguments)], capture_output=True, text=True)


def report(*arguments):
    done = run(*arguments, "--quiet", "--json", "-")
    return done.returncode, json.loads(done.stdout)


def last_row(path):
    with open(path, newline="") as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


class Trajectories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = {}
        for name in NAMES:
            stop = ("--stop-time", SHORTENED[name]) if name in SHORTENED else ()
            code, cls.results[name] = report("compare", EXAMPLES / f"{name}.mo", *stop)
            assert code == 0, name

    def each_run(self, check):
        """Calls check(model, method, run) for all methods that apply."""
        for name, result in self.results.items():
            for found in result["runs"]:
                with self.subTest(model=name, method=found["method"]):
                    if found["status"] == "singular":
                        self.assertIn("method", found["message"])  # it does not apply
                        self.assertNotIn(found["method"], ("dummy", "minimal", "underlying", "overdetermined", "none"))
                    elif (name, found["method"]) in CANNOT and found["status"] == "integration":
                        self.assertRegex(found["message"], "use a method that reduces it|do not determine by how much . jumps")
                    else:
                        self.assertEqual(found["status"], "ok", found["message"])
                        check(name, found["method"], found)

    def test_same_on_every_example(self):
        def check(name, method, found):
            amplification = found["amplification"] or 1  # unknown if the changed start cannot be run
            self.assertLessEqual(found["difference"], 100 * self.results[name]["tolerance"] * max(1, amplification))

        self.each_run(check)

    def test_constraints_hold_where_they_are_enforced(self):
        def check(name, method, found):
            if method in ENFORCING:
                for level in found["levels"]:
                    self.assertLessEqual(level["max"], RESIDUAL.get((name, method), 1e-10))
                    self.assertEqual(level["drift"], "none")

        self.each_run(check)

    def test_drift_is_where_it_should_be(self):
        for name in CONSTRAINED:
            levels = {found["method"]: [level["max"] for level in found["levels"]] for found in self.results[name]["runs"]}
            with self.subTest(model=name):
                self.assertLess(levels["projection"][1], 1e-12)
                self.assertGreater(levels["projection"][0], 1e-10)
                self.assertGreater(levels["underlying"][0], 1e-10)
                self.assertGreater(levels["underlying"][0], levels["baumgarte"][0])

        def check(name, method, found):
            drifts = [level["drift"] for level in found["levels"]]
            if method == "baumgarte":
                self.assertEqual(set(drifts), {"none"})
            if method == "underlying" and name in QUADRATIC and name not in SHORTENED:
                self.assertEqual(drifts[0], "quadratic")

        self.each_run(check)

    def test_amplification(self):
        """Amplification with methods that keep a pendulum on its constraint, and with methods in which it can leave the constraint."""
        amplified = {found["method"]: found["amplification"] for found in self.results["pendulum"]["runs"]}
        self.assertEqual(amplified["ggl"], amplified["dummy"])
        self.assertGreater(amplified["underlying"], 3 * amplified["dummy"])

    def test_without_states(self):
        code, result = report("compare", EXAMPLES / "reactor.mo", "--methods", "dummy", "--solvers", "cvode,ida,radau,erk")
        for found in result["runs"]:
            with self.subTest(solver=found["solver"]):
                self.assertEqual((found["status"], found["states"]), ("ok", 0))

    def test_invariant(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("simulate", EXAMPLES / "pendulum_large.mo", "--invariant", "E", "--output-file", pathlib.Path(folder) / "r.csv")
            drifts = {method: report(*arguments, "--method", method)[1]["invariants"][0]["drift"] for method in ("underlying", "dummy")}
        self.assertEqual(drifts, {"underlying": "quadratic", "dummy": "linear"})


class Events(unittest.TestCase):
    # Changes its mode many times, and does not begin in the first mode.
    SWINGING = """model Swinging
      Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 0, fixed = true), vy, lambda, k;
    equation
      k = if x > 0 then 1.5 else 1;
      der(x) = vx; der(y) = vy; der(vx) = -lambda*x - k*x; der(vy) = -lambda*y - 9.81; x^2 + y^2 = 1;
      annotation(experiment(StopTime = 10, Tolerance = 1e-8));
    end Swinging;"""

    def test_modes_of_derived_systems(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "Swinging.mo"
            model.write_text(self.SWINGING)
            code, result = report("compare", model)
        for found in result["runs"]:
            with self.subTest(method=found["method"]):
                self.assertEqual(found["status"], "ok", found["message"])
                self.assertLessEqual(found["difference"], 100e-8 * found["amplification"])
                self.assertLess(found["algebraic_difference"], 1e-3)  # k has its value from the first point on
                if found["method"] in ENFORCING:
                    self.assertLess(max(level["max"] for level in found["levels"]), 1e-10)

    def test_each_crossing_is_one_event(self):
        """A crossing must be located on the constraints: otherwise the projection of the next step would undo it, and it would be found again."""
        with tempfile.TemporaryDirectory() as folder:
            events = [report("simulate", EXAMPLES / "water.mo", "--method", method, "--output-file", pathlib.Path(folder) / "r.csv")[1]["events"]
                      for method in ("dummy", "overdetermined")]
        self.assertEqual(events, [9, 9])


class Printed(unittest.TestCase):
    """The text of reduce is a model: read again and simulated, it ends at the same values as the method itself."""

    def simulate(self, model, method, stop, out):
        done = run("simulate", model, "--method", method, "--stop-time", stop, "--tolerance", 1e-8, "--output-file", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return last_row(out)

    def test_round_trip(self):
        # Short, so that the choice of states made at the start stays a good one.
        stops = {"pendulum": 0.2, "pendulum2": 0.2, "gear_drive": 1, "slider_crank": 0.05, "caraxis": 0.2, "reactor": 0.5, "paraboloid": 0.3,
                 "rc_circuit": 0.01, "double_pendulum": 0.1, "andrews": 0.001}
        with tempfile.TemporaryDirectory() as folder:
            out, printed = pathlib.Path(folder) / "r.csv", pathlib.Path(folder) / "printed.mo"
            for name, stop in stops.items():
                for method in METHODS:
                    with self.subTest(model=name, method=method):
                        done = run("reduce", EXAMPLES / f"{name}.mo", "--method", method)
                        if done.returncode == 4:
                            continue
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertIn("// equation" if method != "projection" else "// from equation", done.stdout)
                        printed.write_text(done.stdout)
                        direct = self.simulate(EXAMPLES / f"{name}.mo", method, stop, out)
                        again = self.simulate(printed, "dummy", stop, out)
                        moving = [name for name in direct if f"der({name})" in direct] if method in ("none", "ggl1") else list(direct)
                        for variable, value in direct.items():
                            if "der(" in variable or variable.startswith("mu_") or variable not in moving:
                                continue
                            if variable in again:
                                self.assertAlmostEqual(again[variable] / (1 + abs(value)), value / (1 + abs(value)), delta=3e-6, msg=variable)

    def test_projection_is_explicit(self):
        for name, states in (("pendulum", 3), ("double_pendulum", 6), ("triple_pendulum", 9), ("slider_crank", 6)):
            code, result = report("reduce", EXAMPLES / f"{name}.mo", "--method", "projection")
            self.assertEqual((code, result["differential"], result["algebraic"]), (0, states, 0))

    def test_counts_are_those_of_the_text(self):
        """Printed equations do not depend on the method and the order of the equations."""
        def equations_of(text):
            lines = text.split("\n  equation\n")[1].splitlines()
            return sum(" = " in line and not line.lstrip().startswith(("//", "annotation")) for line in lines)

        small = [path for path in EXAMPLES.glob("*.mo") if path.stat().st_size < 2500]
        with tempfile.TemporaryDirectory() as folder:
            for model in sorted((*small, *PAPERS.glob("*.mo"))):
                written, file = equations_of(run("flatten", model).stdout), pathlib.Path(folder) / "counts.json"
                for method in METHODS:
                    done = run("reduce", model, "--method", method, "--json", file)
                    if done.returncode == 4:
                        continue
                    result = json.loads(file.read_text())
                    for equations, counts in ((equations_of(done.stdout), result), (written, result["before"])):
                        kinds = [counts[kind] for kind in ("differential", "algebraic", "solved")]
                        self.assertEqual((sum(kinds), min(kinds) >= 0), (equations, True), (model.stem, method))

    def test_condition_numbers(self):
        """-v shows the matrices that were chosen: two levels for dummy, one for projection, none if nothing is chosen."""
        for method, levels in (("dummy", 2), ("projection", 1)):
            for arguments in (("reduce",), ("simulate", "--output-file", "-", "--stop-time", 0.1)):
                said = run(arguments[0], EXAMPLES / "slider_crank.mo", *arguments[1:], "--method", method, "-v").stderr
                found = re.findall(r"choice: 4 of [45] at stage \d, condition number ([\d.]+): (?:der\()?x", said)
                self.assertEqual(len(found), levels, said)
                self.assertTrue(all(1 <= float(number) < 10 for number in found))
        self.assertNotIn("choice", run("reduce", EXAMPLES / "rc_circuit.mo", "-v").stderr)

    def test_multipliers_as_derivatives(self):
        """Gear: with mu = nu' and lambda = eta' the printed system has index 1, here found by structure."""
        with tempfile.TemporaryDirectory() as folder:
            printed = pathlib.Path(folder) / "printed.mo"
            for name in ("pendulum", "slider_crank", "gear_drive"):
                printed.write_text(run("reduce", EXAMPLES / f"{name}.mo", "--method", "ggl1").stdout)
                code, result = report("analyze", printed)
                self.assertEqual((code, max(result["offsets"]["c"])), (0, 1), name)
                printed.write_text(run("reduce", EXAMPLES / f"{name}.mo", "--method", "ggl").stdout)
                code, result = report("analyze", printed)
                self.assertGreater(max(result["offsets"]["c"]) + (0 in result["offsets"]["d"]), 1, name)

    def test_projection_of_the_paper(self):
        """(78) gives two equations for the circuit, and (49) nine for index 5; with index 2 and constraints that are linear in the velocities, x and u are left."""
        for name, states in (("circuit", 2), ("hessenberg5", 9), ("nonholonomic", 5)):
            model = PAPERS / f"shmoylova_{name}.mo"
            code, result = report("reduce", model, "--method", "projection")
            self.assertEqual((code, result["differential"], result["algebraic"]), (0, states, 0), name)
            code, compared = report("compare", model, "--methods", "projection", "--stop-time", 0.5)
            self.assertLess(compared["runs"][0]["difference"], 100 * compared["tolerance"], name)
        printed = run("reduce", PAPERS / "shmoylova_circuit.mo", "--method", "projection").stdout
        self.assertIn("der('I1_der') = ('lambda2' - 'lambda1')/'L'", printed)

    def test_baumgarte_parameters(self):
        done = run("reduce", EXAMPLES / "pendulum.mo", "--method", "baumgarte", "--baumgarte", "3,5")
        self.assertEqual(done.returncode, 0)
        self.assertIn("alpha = 3, beta = 5", done.stdout)
        self.assertIn("25*'x'^2", done.stdout)

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "residuals.svg"
            done = run("compare", EXAMPLES / "pendulum.mo", "--plot", picture)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = picture.read_text()
            for method in METHODS:
                self.assertIn(method, text)


class LeftOut(unittest.TestCase):
    """Superfluous differentiations (Mattsson, Söderlind 1991, section 3, Example 2)."""

    EQUATIONS = ["{a} + {b} + sin(time) = 0", "{a} + {b} + {c} + cos(time) = 0", "{a} + {d} + time = 0",
                 "2*der(der({a})) + der(der({b})) + der(der({c})) + der({d}) + time^2 = 0"]
    IMPLICIT = [solver for solver in ("ida", "bdf") if solver in run("simulate", "--help").stdout]

    def example1(self, names, order):
        """Example 1 with other names, equations and declarations in another order."""
        a, b, c, d = names
        declarations = [f"  Real {a};", f"  Real {b}(start=0, fixed=true);", f"  Real {c};", f"  Real {d};"]
        equations = [f"  {text.format(a=a, b=b, c=c, d=d)};" for text in self.EQUATIONS]
        return "\n".join(["model M", *[declarations[k] for k in reversed(order)], "initial equation", f"  der({b}) = 0;", "equation",
                          *[equations[k] for k in order], "end M;", ""])

    @staticmethod
    def closed_form(t):
        """x1'' - x1' = 1 - t^2 - cos t with x1(0) = 0, x1'(0) = -1; the others follow."""
        x1 = t**3 / 3 + t * t + t + (math.sin(t) + math.cos(t)) / 2 - 2.5 * math.exp(t) + 2
        return x1, -x1 - math.sin(t), math.sin(t) - math.cos(t), -x1 - t

    def simulate(self, model, solver, *options):
        with tempfile.TemporaryDirectory() as folder:
            source, out = pathlib.Path(folder) / "m.mo", pathlib.Path(folder) / "r.csv"
            source.write_text(model)
            code, result = report("simulate", source, "--solver", solver, "--output-file", out, *options)
            self.assertEqual(code, 0, (solver, result["status"]))
            with open(out, newline="") as file:
                return result, [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    def check_example1(self, model, names):
        for solver in ["radau", "erk", *self.IMPLICIT]:
            result, rows = self.simulate(model, solver, "--stop-time", 2, "--intervals", 20, "--tolerance", 1e-8)
            self.assertEqual(result["states"], 2)
            for row in rows:
                for name, value in zip(names, self.closed_form(row["time"])):
                    self.assertAlmostEqual(row[name] / (1 + abs(value)), value / (1 + abs(value)), delta=3e-6, msg=(solver, name))

    def test_example2(self):
        """What reduce prints is (3.3): six equations in x1, x3, x1', x3', x4 and x2, two states; so with any names, in any order."""
        for names, order in ((("x1", "x2", "x3", "x4"), (0, 1, 2, 3)), (("q", "z", "a", "m"), (3, 1, 0, 2)), (("d", "c", "b", "a"), (2, 0, 3, 1))):
            with self.subTest(names=names), tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder) / "m.mo"
                source.write_text(self.example1(names, order))
                code, result = report("reduce", source, "--method", "dummy")
                counts = {key: result[key] for key in ("differential", "algebraic", "solved", "left_out", "states")}
                self.assertEqual((code, counts), (0, {"differential": 1, "algebraic": 5, "solved": 0, "left_out": 3, "states": 2}))
                printed = run("reduce", source, "--method", "dummy").stdout
                self.assertIn("3 superfluous differentiations left out", printed)
                body = printed.split("  equation\n")[1]
                self.assertEqual(sum(line.endswith(";") for line in body.split("  end ")[0].splitlines()), 6)
                self.assertEqual(printed.count("as a separate variable"), 2)
                self.assertNotIn("differentiated twice", printed)
                self.check_example1(source.read_text(), names)
                self.check_example1(printed, names)

    def test_counts(self):
        """A system of one block omits its last differentiations if the solver accepts that; evaluations count the remaining
        rows."""
        model = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/cases/papers/mattsson_example2.mo"
        for solver in ["radau", "erk", *self.IMPLICIT]:
            # With nominal values the sizes of states are not searched for, which would take evaluations of some rows.
            result, _ = self.simulate(re.sub(r"Real (x\d);", r"Real \1(nominal = 1);", model.read_text()), solver)
            rows = 9 - result["left_out"]
            self.assertEqual((result["rows"], result["states"], rows), (9, 2, 6 if solver in self.IMPLICIT else 9), solver)
            evaluated = result["residual_evals"] * 9
            self.assertAlmostEqual(evaluated / rows, round(evaluated / rows), delta=1e-9, msg=solver)
        code, analysis = report("analyze", model)
        self.assertEqual((code, analysis["structural_index"], sum(d["times"] for d in analysis["differentiations"])), (0, 2, 5))

    def test_kept(self):
        """With --keep-superfluous every differentiation of the structural analysis stays, printed and integrated."""
        model = PAPERS / "mattsson_example2.mo"
        code, result = report("reduce", model, "--keep-superfluous")
        kinds = result["differential"] + result["algebraic"] + result["solved"]
        self.assertEqual((code, result["left_out"], kinds, result["states"]), (0, 0, 9, 2))
        for solver in self.IMPLICIT:
            result, _ = self.simulate(model.read_text(), solver, "--keep-superfluous")
            self.assertEqual((result["left_out"], result["rows"]), (0, 9), solver)

    def test_what_an_alias_names_stays(self):
        """(1.2): z is x'', and a system with z = d/dt of an algebraic variable would have index 2."""
        model = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/cases/papers/mattsson_1_2.mo"
        code, result = report("reduce", model, "--method", "dummy")
        self.assertEqual((code, result["left_out"], result["algebraic"], result["solved"]), (0, 0, 0, 3))

    def test_foreign_states_keep_rows(self):
        """If a constraint passes on the errors of other blocks, many times amplified, the run keeps its differentiation."""
        with tempfile.TemporaryDirectory() as folder:
            for solver in self.IMPLICIT:
                code, result = report("simulate", EXAMPLES / "transamp.mo", "--solver", solver, "--stop-time", 0.01, "--output-file",
                                      pathlib.Path(folder) / "r.csv")
                self.assertEqual((code, result["left_out"], result["rows"]), (0, 0, 17))
        code, result = report("reduce", EXAMPLES / "transamp.mo", "--method", "dummy")
        self.assertEqual((code, result["left_out"]), (0, 6))


class Written(unittest.TestCase):
    """Every variable that a model declares and every derivative that it writes is in the trajectory of every method, even if equations are rewritten, or the variable is a constant or an
    alias."""

    FACTORS, FORCES = [-2, -1, 0.5, 1, 2, 3], ["1", "time", "sin(time)", "exp(-time)", "0.5*cos(2*time)"]

    def equation(self, rng, own, count):
        other = rng.choice([k for k in range(count) if k != own])
        if rng.random() < 0.15:
            return f"x{own} = " + rng.choice([str(rng.randint(-2, 2)), f"x{other}", f"-x{other}", f"der(x{other})"])
        terms = [f"({rng.choice(self.FACTORS)})*" + rng.choice(["x{0}", "x{0}", "der(x{0})", "der(x{0})", "(x{0} + 0.3*x{0}^2)", "sin(x{0})"])
                 for _ in range(rng.randint(1, 3))]
        return " + ".join(term.format(k) for term, k in zip(terms, [own, *rng.sample(range(count), 2)])) + f" + {rng.choice(self.FORCES)} = 0"

    def model(self, rng):
        count = rng.randint(3, 6)
        order = rng.sample(range(count), count)
        equations = [self.equation(rng, own, count) for own in order]
        names = [f"x{k}" for k in range(count)]
        text = ("model M\n" + "".join(f"  Real {name}(start = {round(rng.uniform(-1, 1), 1)});\n" for name in names) + "equation\n" +
                "".join(f"  {equation};\n" for equation in equations) + "end M;\n")
        return text, {*names, *re.findall(r"der\(x\d\)", text)}

    def test_generated(self):
        done = {method: 0 for method in [*METHODS, "strangeness"]}
        for seed in seeds(20 if SLOW else 60):
            text, wanted = self.model(random.Random(seed))
            for method in done:
                found = simulate(text, method=method, stop_time=0.05, intervals=2)
                if found.status: continue
                done[method] += 1
                self.check(text, method, wanted, found)
        self.assertGreater(min(done[method] for method in METHODS if not method.startswith("ggl")), 0, done)

    def check(self, text, method, wanted, found):
        with self.subTest(model=text, method=method):
            self.assertEqual(wanted - found.columns.keys(), set())
            self.assertEqual({name for name in wanted if any(map(math.isnan, found.columns[name]))}, set())

    def test_cancelled(self):
        """Derivatives that the model writes and that aliases cancel in the equations, together with a pendulum, to which every method applies."""
        for source, slope in {"sin(time)": "cos(time)", "x*y": "u*y + x*v", "u": "-l*x", "l": None, "3": "0", "exp(-x)": "-u*exp(-x)"}.items():
            text = ("model M\n  Real x(start = 0.6), y(start = -0.8), u, v, l, p, r, s, k;\nequation\n  der(x) = u;\n  der(y) = v;\n"
                    "  der(u) = -l*x;\n  der(v) = -l*y - 9.81;\n  x^2 + y^2 = 1;\n  p = k;\n  r = -k;\n"
                    f"  k = {source};\n  s = der(p) + der(r) + y;\nend M;\n")
            for method in [*METHODS, "strangeness"]:
                found = simulate(text, method=method, stop_time=0.5, intervals=2)
                self.assertEqual(found.status, 0, (method, source))
                self.check(text, method, {*"xyuvlprsk", "der(p)", "der(r)"}, found)
                row = {name: column[-1] for name, column in found.columns.items() if name.isidentifier()} | vars(math)
                if slope is not None:
                    self.assertAlmostEqual(found.columns["der(p)"][-1], eval(slope, row), 3, (method, source))
                    self.assertAlmostEqual(found.columns["der(r)"][-1], -found.columns["der(p)"][-1], 9)


class BadUse(unittest.TestCase):
    def refuse(self, code, what, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(what, done.stderr)

    def test_usage(self):
        model = EXAMPLES / "pendulum.mo"
        self.refuse(2, "projection", "reduce", model, "--method", "projektion")
        self.refuse(2, "there is no 'dumy'", "compare", model, "--methods", "dumy,none")
        self.refuse(2, "there is no 'rado'", "compare", model, "--solvers", "rado")
        for value in ("-1,2", "0,1", "1", "1,2,3", "a,b", "1,inf"):
            self.refuse(2, "two numbers above zero", "simulate", model, "--method", "baumgarte", f"--baumgarte={value}")
        self.refuse(2, "no variable 'Energy'", "simulate", model, "--invariant", "Energy", "--output-file", "-")
        self.refuse(2, "radau or bdf", "simulate", model, "--method", "ggl", "--solver", "erk", "--output-file", "-")

    def test_index_three_without_radau(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refuse(6, "use solver radau, or a method that reduces it", "simulate", EXAMPLES / "paraboloid.mo", "--method", "none",
                        "--solver", "ida", "--output-file", pathlib.Path(folder) / "r.csv")

    def test_does_not_apply(self):
        model = EXAMPLES / "rc_circuit.mo"
        for method in ("ggl", "baumgarte"):
            self.refuse(4, "dummy", "reduce", model, "--method", method)
            self.refuse(4, "dummy", "compare", model, "--methods", f"dummy,{method}")


if __name__ == "__main__":
    unittest.main()
