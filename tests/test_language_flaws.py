"""Flaws of a model are reported, by `check` as by a run: random sound pieces in random order, alone or with one flaw of a list, in
the model itself or in a component. The expected status of each is known. If `check` accepts a model, no run finds a fault in its text or
structure. DAEDAL_MODELS=N makes more of them (runs.py)."""
import random
import unittest

from runs import check, seeds, simulate

# Declarations and equations; # is the number of the piece.
PIECES = [("Real x#(start = 1, fixed = true);", "der(x#) = -x#;"), ("Real p#, q#;", "p# + q# = time; p# - q# = 1;"),
          ("Real u#(start = 0, fixed = true), v#(start = 1, fixed = true), w#;", "der(u#) = v#; der(v#) = -u#; w# = u#*v#;"),
          ("Integer n#(start = 0, fixed = true);", "when sample(0.1, 0.2) then n# = pre(n#) + 1; end when;"),
          ("Integer j#(start = 0, fixed = true);", "when time > 0.2 then if time > 0.3 then j# = 1; elseif time > 0.1 and not time > 0.25 then j# = 2; else j# = 3; end if; elsewhen time > 0.4 then j# = 4; end when;"),
          ("Boolean b#; Real r#;", "b# = time > 0.5; r# = if b# then 1 else 2;"),
          ("discrete Real d#(start = 0, fixed = true); Real s#(start = 0, fixed = true);", "der(s#) = 1; when s# > 0.3 then d# = s#; end when;"),
          ("Real e#[3];", "for i in 1:3 loop e#[i] = i*time; end for;"),
          ("Real h#(start = 1, fixed = true), g#(start = 0, fixed = true), o#;", "der(h#) = g#; der(g#) = -9.81; o# = -g#; when h# < 0 then reinit(o#, 0.5*pre(g#)); end when;"),
          ("Real c#(start = 0.5), k#(start = 0.5);", "c#^2 + k# = 1; k# = c# + 0.1*time;"),
          ("Real l#(start = 1), m#(start = 0, fixed = true), a#(start = 0), f#(start = 0, fixed = true), t#;",
           "der(l#) = a#; der(m#) = f#; der(a#) = -t#*l#; der(f#) = -t#*m# - 9.81; l#^2 + m#^2 = 1;"),
          ("parameter Real y0#(fixed = false); Real y#(start = y0#, fixed = true);", "der(y#) = -y#; initial equation y0# = 2; equation")]

INPUT, STRUCTURE, START = 3, 4, 5
STATES = "Real z, y(start = 0, fixed = true);"
# Description, declarations, equations, exit status, words of the message.
FLAWS = [
    ("no equation", "discrete Real z;", "", STRUCTURE, "z"), ("no equation", "Integer z;", "", STRUCTURE, "z"), ("no equation", "Boolean z;", "", STRUCTURE, "z"), ("no equation", "Real z;", "", STRUCTURE, ""),
    ("no equation", "type E = enumeration(one, two); E z;", "", STRUCTURE, "z"), ("no equation", "discrete Real z; Real y;", "y = 2*z;", STRUCTURE, "z"),
    ("no equation", "Boolean z; Real y;", "y = if z then time else 1;", STRUCTURE, "z"), 
    ("no equation", "Integer z[2];", "z[2] = integer(time);", STRUCTURE, "z[1]"), ("no equation", "Real z[2];", "z[1] = time;", STRUCTURE, ""), ("no equation", "discrete Real z; Real y;", "when time > 0.5 then y = z; end when;", STRUCTURE, "z"),
    ("no equation", "Real z(start = 0, fixed = true), y;", "der(z) = 1; z = time + y - y;", STRUCTURE, "y"),
    ("two equations", "Real z;", "z = 1; z = time;", STRUCTURE, ""), ("two equations", "Real z, y;", "z = 1; z = time;", STRUCTURE, ""), ("two equations", "Integer z;", "z = 1; z = integer(time);", STRUCTURE, "z"),
    ("two equations", "Integer z(start = 0, fixed = true);", "when time > 0.5 then z = 1; end when; when time > 0.6 then z = 2; end when;", STRUCTURE, "z"),
    ("two equations", "Boolean z(start = false, fixed = true);", "z = time > 0.2; when time > 0.6 then z = true; end when;", STRUCTURE, "z"),
    ("two equations", "Integer z(start = 0, fixed = true);", "when time > 0.5 then z = 1; z = pre(z) + 2; end when;", STRUCTURE, "z"),
    ("two equations", "discrete Real z(start = 0, fixed = true);", "when time > 0.7 then z = 4; elsewhen time > 0.5 then z = 1; if time > 0.2 then z = 2; else z = 3; end if; end when;", STRUCTURE, "z"),
    ("two equations", "Integer z[2](each start = 0, each fixed = true);", "when time > 0.5 then for i in 1:2 loop z[i] = i; end for; z[2] = 5; end when;", STRUCTURE, "z[2]"),
    ("two equations", "Boolean z(start = false, fixed = true);", "when sample(0, 0.5) then if time > 0.2 then z = true; else z = false; end if; if time > 0.3 then z = false; else z = true; end if; end when;", STRUCTURE, "z"),
    ("contradiction", "Real z, y;", "z + y = 1; z + y = 2 + time;", STRUCTURE, "contradict"), ("contradiction", "Real z, y, o;", "z + y + o = 1; z + y = time; o = 2*time;", STRUCTURE, "singular"),
    ("contradiction", "Real z, y;", "z + y = 1; 2*z + 2*y = 5;", STRUCTURE, "contradict"), ("contradiction", "Real z, y;", "z - y = sin(time); y - z = 1;", STRUCTURE, "contradict"),
    ("interval", "Integer z(start = 0, fixed = true);", "when sample(0, 0) then z = pre(z) + 1; end when;", INPUT, "interval"), ("interval", "discrete Real z;", "when sample(0.5, 1 - 3) then z = time; end when;", INPUT, "interval"),
    ("interval", "Integer z(start = 0, fixed = true);", "when {time > 0.5, sample(0, -1e-3)} then z = pre(z) + 1; end when;", INPUT, "interval"),
    ("output", "function f input Real u; output Real v; end f; Real z = f(1);", "", INPUT, "nothing in function"), ("output", "partial function f input Real u; output Real v; end f; Real z = f(1);", "", INPUT, "is partial"), ("output", "function f input Real u; output Real v; output Integer w; algorithm v := u; end f; Real z; Integer y;", "(z, y) = f(time);", INPUT, "nothing in function"),
    ("reinit", STATES, "z = sin(y); der(y) = 1; when y > 0.5 then reinit(z, 0); end when;", INPUT, "reinit cannot set"), ("reinit", STATES, "z = 2*y; der(y) = 1; when y > 0.5 then reinit(z, 0); end when;", INPUT, "reinit cannot set"),
    ("reinit", STATES, "z = time; der(y) = z; when y > 0.3 then reinit(z, 0); end when;", INPUT, "reinit cannot set"), ("reinit", STATES, "z^3 + z = y; der(y) = 1; when y > 0.5 then reinit(z, pre(z)); end when;", INPUT, "reinit cannot set"),
    ("reinit", STATES, "z = y; der(y) = 1; when y > 5 then reinit(y, 0); elsewhen z > 0.5 then reinit(x, 0); end when; Real x; equation x = y + 1;", INPUT, ""),
    ("type", "Integer z;", "z = 1.5*time;", INPUT, ""), ("type", "Boolean z;", "z = 1;", INPUT, ""), ("type", "Real z;", "z = true;", INPUT, ""), ("name", "Real z;", "z = undeclared;", INPUT, "undeclared"),
    ("size", "Real z[2];", "z = {1, 2, 3};", INPUT, "size"), ("argument", "Real z[3] = {1, 2, 3}; Integer n = size(z, dim = 1);", "", INPUT, "no argument of this name"),
    ("argument", "Real z[2, 3] = fill(1, 2, 3), y = sum(v = z);", "", INPUT, ""), ("clock", "Real z = noClock(time);", "", INPUT, ""), ("clock", "Real z, y = time;", "z = noClock(y);", INPUT, ""),
    ("inner", "inner model z Real q = 1; end z; model A outer Real z; Real y = z; end A; A a;", "", INPUT, ""), ("branches", "Real z;", "if time > 0.5 then z = 1; else z = 1; z = 2; end if;", INPUT, ""),
    ("branches", "Real z;", "if time > 0.5 then z = 1; end if;", INPUT, ""), ("derivative", "discrete Real z(start = 0, fixed = true);", "when time > 0.5 then z = 1; end when; der(z) = 0;", INPUT, ""),
    # Only the computation of values shows that there is no solution.
    ("start", "Real z(start = 1, fixed = true);", "z = 2;", START, ""), ("start", "Real z(start = 1, fixed = true), y(start = 1, fixed = true);", "der(z) = 1; y = 2*z;", START, ""),
    ("start", "Real z(start = 0, fixed = true); initial equation z = 5; equation", "der(z) = 1;", START, ""), ("start", "Real z;", "z^2 + 1 = 0;", START, "")]


def sections(parts):
    """The text of a class: declarations may come after `initial equation ... equation`."""
    return "\n".join(f"public\n  {declared}\nequation\n  {equations}\n" for declared, equations in parts)


def member(rng, flaw):
    drawn = rng.sample(PIECES, rng.randint(0 if flaw else 1, 3))
    parts = [tuple(text.replace("#", str(k)) for text in piece) for k, piece in enumerate(drawn)] + ([flaw[1:3]] if flaw else [])
    rng.shuffle(parts)
    inside = rng.random() < 0.3 and f"model Inside\n{sections(parts[:1])}end Inside;\n  Inside inside;\n"
    return f"model M\n{inside}{sections(parts[1:])}end M;\n" if inside else f"model M\n{sections(parts)}end M;\n"


class Flaws(unittest.TestCase):
    def judge(self, flaw, seed):
        text = member(random.Random(seed), flaw)
        checked, run = check(text), simulate(text, intervals=10)
        with self.subTest(flaw=flaw, text=text):
            self.assertEqual(run.status, flaw[3] if flaw else 0, run.words)
            self.assertEqual(checked.status, 0 if not flaw or flaw[3] == START else flaw[3], checked.words)
            self.assertIn(flaw[4] if flaw else "", run.words)
            if checked.status:
                self.assertIn(flaw[4], checked.words)

    def test_sound(self):
        for seed in seeds(100, quick=20):
            self.judge(None, seed)

    def test_flawed(self):
        for seed in seeds(400, quick=len(FLAWS)):
            self.judge(FLAWS[seed % len(FLAWS)], seed)

    def test_no_interval_by_value(self):
        """The value of a parameter belongs to the run."""
        for seed in seeds(40, quick=6):
            rng = random.Random(seed)
            interval = rng.choice(["T", "2*T", "T - 1", "max(T, -3)"])
            text = f"model M\n  {rng.choice(['parameter', 'constant'])} Real T = {rng.choice([0, -1, -0.25])}; Integer n(start = 0, fixed = true);\nequation\n  when sample({rng.choice(['0', 'T', '0.5'])}, {interval}) then n = pre(n) + 1; end when;\nend M;\n"
            run = simulate(text)
            self.assertEqual((run.status, "interval" in run.words), (3, True), text)
            self.assertEqual([d["line"] for d in run.report["diagnostics"]], [4], text)


class Crashes(unittest.TestCase):
    """Texts that once caused a crash, and similar ones: each ends with a status of the command."""
    PAIR = "operator record R Real re; Real im; encapsulated operator '+' function f input R a; input R b; output R c; import M.R; algorithm c := R(a.re + b.re, a.im + b.im); end f; end '+'; end R;"

    def test_arguments_by_name(self):
        for name, call in (("size", "size(x, {0} = 1)"), ("sum", "sum({0} = x)"), ("max", "max({0} = x)"), ("fill", "fill({0} = 1, 3)"), ("cat", "cat({0} = 1, x, x)"), ("sin", "sin({0} = 1)"), ("integer", "integer({0} = 1.5)"),
                           ("pre", "pre({0} = n)"), ("sample", "sample({0} = 1, 2)"), ("der", "der({0} = y)"), ("smooth", "smooth({0} = 1, y)"), ("ndims", "ndims({0} = x)"), ("String", "String({0} = 1)"), ("linspace", "linspace({0} = 1, 2, 3)")):
            for argument in ("dim", "i", "x", "x1", "u", "A"):
                with self.subTest(call=call, argument=argument):
                    text = f"model M\n  Real x[3] = {{1, 2, 3}}, y = time; Integer n = 3;\n  Real r = {call.format(argument)};\nend M;\n"
                    self.assertIn(check(text).status, (0, 3, 4), name)

    def test_operators_on_no_elements(self):
        for size in (0, 1, 2):
            for expression in ("a + a", "a + a + a", "{a[i] + a[i] for i in 1:S}", "a[1:S] + a"):
                text = (f"model M\n  {self.PAIR}\n  R a[{size}], b[{size}] = {expression.replace('S', str(size))}; Real t = time;\n"
                        f"equation\n  for i in 1:{size} loop a[i].re = i; a[i].im = time; end for;\nend M;\n")
                run = simulate(text, intervals=1)
                with self.subTest(text=text):
                    self.assertEqual(run.status, 0, run.words)
                    if size:
                        self.assertEqual(run.end("b[1].re"), 3 if expression == "a + a + a" else 2)

    def test_inner_and_outer_of_other_kinds(self):
        inners = ["inner model z Real q = 1; end z;", "inner Real z = 1;", "inner parameter Real z = 1;", "inner function z input Real u; output Real v; algorithm v := u; end z;", "inner type z = Real;", "inner Integer z = 2;", "inner Real z[2] = {1, 2};",
                  "inner record z Real q = 1; end z;", "inner package z constant Real q = 1; end z;"]
        outers = ["outer model z Real q = 1; end z; z y;", "outer Real z; Real y = z;", "outer parameter Real z; Real y = z;", "outer function z input Real u; output Real v; end z; Real y = z(1);", "outer type z = Real; z y = 1;", "outer Integer z; Real y = z;",
                  "outer Real z[2]; Real y = z[1];", "outer record z Real q = 1; end z; z y;", "outer package z constant Real q = 1; end z; Real y = z.q;"]
        kind = lambda text: text.split()[1] if text.split()[1] in ("model", "function", "type", "record", "package") else text.split("z")[0].split()[-1] + ("[" if "z[" in text else "")
        for inner in inners:
            for outer in outers:
                with self.subTest(inner=inner, outer=outer):
                    run = simulate(f"model M\n  {inner}\n  model A {outer} end A;\n  A a;\nend M;\n", intervals=1)
                    varies = "parameter" in outer and "parameter" not in inner
                    self.assertEqual(run.status, 0 if kind(inner) == kind(outer) and not varies else 3, run.words)
                    if run.status:
                        self.assertRegex(run.words, "`?inner`? (class|component|element)")

    def test_inner_varies_no_more_than_outer(self):
        """The two are given as components, in components, or in fields of records."""
        ways = ("inner {0} Real z{1}; model A outer {2} Real z; Real y = z; end A; A a;",
                "model I {0} Real z{1}; end I; inner I i; model A model I {2} Real z; end I; outer I i; Real y = i.z; end A; A a;",
                "inner {0} Real z[2]{3}; model B model A outer {2} Real z[2]; Real y = z[2]; end A; A a; end B; B b;")
        prefixes = ("constant", "parameter", "discrete", "")
        for way in ways:
            for i, inner in enumerate(prefixes):
                for k, outer in enumerate(prefixes):
                    value = ("(start = 2, fixed = true)", "(each start = 2, each fixed = true)") if inner == "discrete" else (" = 2", " = {1, 2}")
                    equation = "" if inner != "discrete" else "equation when time > 2 then z = pre(z); end when;"
                    text = way.replace("; end I; inner", f"; {equation} end I; inner").format(inner, value[0], outer, value[1])
                    run = simulate(f"model M\n  {text}\n{equation if 'inner I' not in way else ''}end M;\n", intervals=1)
                    with self.subTest(text=text):
                        self.assertEqual(run.status, 0 if i <= k else 3, run.words)

    def test_outer_classes(self):
        """An outer class is the inner one of the nearest enclosing component, for all uses."""
        uses = [("model", "Real q = {0};", "z y;", "y.q"), ("record", "Real q = {0};", "z y;", "y.q"), ("type", " = Real(start = {0}, fixed = true)", "z y; equation der(y) = 0;", "y"),
                ("package", "constant Real q = {0};", "Real y = z.q;", "y"), ("function", "input Real u; output Real v; algorithm v := {0}*u;", "Real y = z(1);", "y"), ("block", "Real q = {0};", "z y;", "y.q"),
                ("package", "constant Real c = {0}; function f input Real u; output Real v; algorithm v := c*u; end f;", "Real y = z.f(1);", "y")]
        for seed in seeds(28):
            rng = random.Random(seed)
            kind, body, use, name = uses[seed % len(uses)]
            text = lambda value: f"{kind} z{body.format(value)};" if kind == "type" else f"{kind} z {body.format(value)} end z;"
            far, near, own = rng.sample(range(1, 99), 3)
            is_hidden = rng.random() < 0.5
            inside = f"model A outer {text(own)} {use} end A; A a;" if rng.random() < 0.5 else f"model A outer {text(own)} end A; model E extends A; {use} end E; E a;"
            run = simulate(f"model M\n  inner {text(far)}\n  model B {f'inner {text(near)}' if is_hidden else ''} {inside} end B;\n  B b;\nend M;\n", intervals=1)
            self.assertEqual((run.status, run.status or run.end(f"b.a.{name}")), (0, near if is_hidden else far), run.words)

    def test_clocks_of_what_has_none(self):
        for call in ("noClock(y)", "noClock(time)", "noClock(1.0)", "previous(y)", "hold(y)", "subSample(y, 2)", "superSample(y, 2)", "shiftSample(y, 1)", "backSample(y, 1)", "interval(y)", "noClock(noClock(y))", "hold(noClock(y))", "sample(noClock(y))"):
            with self.subTest(call=call):
                self.assertIn(check(f"model M\n  Real y = time, z = {call};\nend M;\n").status, (0, 3, 4))


if __name__ == "__main__":
    unittest.main()
