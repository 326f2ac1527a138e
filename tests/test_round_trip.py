"""The text that `daedal flatten` prints means the same as its source.

Seeded models over the whole language: each is a choice of pieces, and each piece has its declarations and as many equations as
unknowns. The flat text must read back, flattening it must give the same text, `check` and `analyze` must find the same figures, and
simulations must end at the same values. Expressions with exponentially many equal parts must not lengthen any text."""
import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

DAEDAL = os.environ["DAEDAL"]
MODELS = int(os.environ.get("ROUND_TRIP_MODELS", "16"))
FIGURES = ("status", "equations", "variables", "structural_index", "dof", "aliases", "regular", "dof_true", "index_true")
LONGEST = 100000  # characters of any text: pieces are short
LONGEST_LINE = 400  # for text that people read

DEFINITIONS = """
  type E = enumeration(slow, fast, 'very fast');
  record R Real x; Real y[2]; E mode; end R;
  function rounds input Real x; input Integer n = 3; output Real y; algorithm
    y := x; for i in 1:n loop y := sin(y)*cos(y) + 0.1; end for; end rounds;
  function branching input Real x; input Integer n; output Real y; algorithm
    y := x; for i in 1:n loop if y > 0.5 then y := y*cos(y); else y := sin(y) + y/2; end if; end for; end branching;
  function endless input Real x; output Real y; output Real z; protected Real s; algorithm
    s := 1; y := 0; while s > 0.01 loop s := s/2; y := y + s*tanh(x); if y > 100 then break; end if; end while; z := y - x; end endless;
  function halved input Real x[:,:,:,:,:]; output Real n; output Real y[size(x,1),size(x,2),size(x,3),size(x,4),size(x,5)];
    algorithm y := x/2; n := 0; while n < abs(y[1,1,1,1,1]) loop n := n + 1; end while; end halved;
  function weighted input R r; input E mode = E.fast; output Real y; algorithm
    y := if mode == r.mode then r.x else r.y[1] + r.y[2]; end weighted;
  function squares input Integer n; input Integer k; output Integer m; algorithm m := n; for i in 1:k loop m := m*m + 1; end for; end squares;
  function turned input E e; input Boolean b; input Integer k; output E r; algorithm r := e;
    for i in 1:k loop r := if r == E.slow then (if b then E.fast else r) elseif r == E.fast then E(3) else (if b then r else E.slow); end for; end turned;
  function parity input Boolean b; input Boolean c; input Integer k; output Boolean r; algorithm
    r := b; for i in 1:k loop r := (r and not c) or (c and not r); end for; end parity;
  function counted input Real x; output E e; protected Integer n; algorithm
    n := 1; while n < x and n < 3 loop n := n + 1; end while; e := E(n); end counted;
  record Q Real x; Real y[2]; Q1 part; end Q;
  record Q1 Real z; Integer n; E e; end Q1;
  record Q2 extends Q1(z = 2); Real w = z; end Q2;
  record S parameter Real k = 2; Real x(start = 0.5, fixed = true); Real y; end S;
  record D Integer n; Boolean b; E e; discrete Real r; end D;
  function made input Real x; input E e; output Q q(x = x); output Integer n; protected Q2 i(n = 3, e = e); algorithm
    q.y := {x, 2*x}; q.part.z := i.w; q.part.n := i.n; q.part.e := i.e; n := 1;
    while n < 10 and n < x loop n := n + 1; q.part.n := q.part.n + n; end while; end made;
  function read input Q q; input Q r = Q(x = 1, y = {2, 3}, part = Q1(2, n = 4, e = E.fast)); output Real y; algorithm
    y := q.x + sum(q.y) + q.part.z + q.part.n + (if q.part.e == E.fast then 1 else 2) + r.x; while y > 50 loop y := y/2; end while; end read;
  function text input Boolean b; output String s; algorithm s := if b then "yes \\"and\\" no" else "no\\n"; end text;
"""


class Builder:
    """A model that grows by pieces. `reals` are expressions of continuous values that pieces may use."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.declarations, self.initial, self.equations, self.sections = [], [], [], []
        self.reals = ["time"]
        self.words = {}  # word -> how often it must occur in the flat text
        self.count = 0
        self.is_hybrid = False

    def name(self):
        self.count += 1
        plain = f"v{self.count}"
        return self.random.choice([plain, plain, plain, f"'{plain} with blanks'", f"'{plain}.a[1].b'", f"'it\\'s {plain}'", f"'{plain}$'"])

    def real(self, depth=2):
        pick = self.random.random()
        if depth == 0 or pick < 0.25:
            return self.random.choice(self.reals + [f"{self.random.uniform(-2, 2):.3g}"])
        a, b = self.real(depth - 1), self.real(depth - 1)
        return self.random.choice([
            f"({a} + {b})", f"({a} - 2*{b})", f"sin({a})*({b})", f"({a})/(2 + cos({b}))", f"tanh({a})^2", f"sqrt(1 + ({a})^2)",
            f"(if {a} > {b} then {b} else sin({a}))", f"noEvent(if {a} > 0.2 then {b} else 0)", f"abs({a})", f"min({a}, {b})",
            f"smooth(1, max({a}, 0.1))", f"rounds({a})", f"rounds({a}, n = {self.random.randint(1, 40)})",
            f"branching({a}, {self.random.randint(1, 12)})", f"endless({a})", f"-({a})"])

    def unknown(self, attributes="", prefix="", binding=None):
        name = self.name()
        self.declarations.append(f"{prefix}Real {name}{attributes}" + (f" = {binding}" if binding else ""))
        return name

    # ---- pieces that can be simulated ----

    def state(self):
        attributes = self.random.choice(["(start = 0.3, fixed = true)", "(start = 0.1, fixed = true, nominal = 2, min = -100, max = 100)",
                                         "(start = 1, fixed = true, unit = \"m\", quantity = \"q\", displayUnit = \"cm\", stateSelect = StateSelect.prefer) \"a state\""])
        value, name = self.real(), self.unknown(attributes)
        self.equations.append(f"der({name}) = tanh({value}) - {name}")
        self.reals.append(name)

    def algebraic(self):
        value, name = self.real(), self.unknown()
        self.equations.append(f"{name} = {value}" if self.random.random() < 0.6 else f"0 = {value} - {name}")
        self.reals.append(name)

    def bound(self):
        prefix = self.random.choice(["input ", "input ", "output ", ""])
        self.reals.append(self.unknown(prefix=prefix, binding=self.real()))

    def bound_array(self):
        name = self.name()
        prefix = self.random.choice(["input ", "output ", ""])
        self.declarations.append(f"{prefix}Real {name}[2, 2] = {{{{{self.real(1)}, 1}}, {{2, {self.real(1)}}}}}")
        self.reals += [f"{name}[1, 1]", f"{name}[2, 2]"]

    def bound_record(self):
        name = self.name()
        self.declarations.append(f"parameter R {name}(x = 1, y = {{2, 3}}, mode = E.'very fast')")
        self.reals.append(f"weighted({name}, E.{self.random.choice(['slow', 'fast'])})")

    def array(self):
        name, sizes = self.name(), [self.random.choice([1, 2]) for _ in range(self.random.randint(1, 5))]
        shape = ", ".join(map(str, sizes))
        self.declarations.append(f"Real {name}[{shape}](each start = 0.5, each fixed = true)")
        self.equations.append(f"der({name}) = -{name}*{self.random.randint(1, 3)}")
        self.reals.append(f"{name}[{', '.join('1' for _ in sizes)}]")

    def five_dimensions(self):
        a, b, n = self.name(), self.name(), self.name()
        shape = "[2, 1, 2, 1, 2]"
        self.declarations += [f"Real {a}{shape}(each start = 0.4, each fixed = true)", f"Real {b}{shape}", f"Real {n}"]
        self.equations += [f"({n}, {b}) = halved({a})", f"der({a}) = -{b}"]
        self.reals.append(f"{b}[2, 1, 2, 1, 2]")

    def record(self):
        value, name = self.real(1), self.name()
        self.declarations.append(f"R {name}(mode = E.slow)" if self.is_hybrid else f"Real {name}[2]")
        if self.is_hybrid:
            self.equations += [f"{name}.x = {value}", f"{name}.y = {{{value}, time}}"]
            self.reals.append(f"{name}.x")
        else:
            self.equations.append(f"{name} = rounds({{{value}, time}}, 2)")
            self.reals.append(f"{name}[2]")

    def made_record(self):
        q, n, value = self.name(), self.name(), self.real(1)
        self.declarations += [f"Q {q}", f"Integer {n}"]
        self.equations.append(f"({q}, {n}) = made({value}, E.{self.random.choice(['slow', 'fast'])})")
        self.reals += [f"{q}.x", f"read({q})", f"{q}.part.z"]

    def records_of_states(self):
        name, size, value = self.name(), self.random.randint(1, 3), self.real(1)
        self.declarations.append(f"S {name}[{size}](k = {{{', '.join(str(i + 1) for i in range(size))}}})")
        self.equations.append(f"for i in 1:{size} loop der({name}[i].x) = -{name}[i].k*{name}[i].x + 0.1*{name}[i].y; {name}[i].y = tanh({value}) + i; end for")
        self.reals += [f"{name}[{size}].x", f"{name}[1].y"]

    def by_literals(self):
        name, factor, value = self.name(), self.name(), self.real(1)
        self.declarations += [f"Real {name}[E]", f"parameter Integer {factor}[E] = {{3, 1, 2}}"]
        self.equations.append(f"for e in E loop {name}[e] = {factor}[e]*{value}; end for")
        self.reals += [f"{name}[E.fast]", f"{factor}[E.slow]"]

    def parameters(self):
        n, p, q, s = self.name(), self.name(), self.name(), self.name()
        self.declarations += [f"parameter Integer {n} = {self.random.randint(1, 4)}", f"parameter Real {p}[{n}] = fill(0.5, {n})",
                              f"final parameter Real {q} = rounds({p}[1], {self.random.randint(1, 40)})", f"parameter Boolean {s} = {q} > 0.1",
                              f"parameter String {self.name()} = text({s})", f"parameter E {self.name()} = E.'very fast'"]
        self.reals += [f"{p}[{n}]", q, f"(if {s} then {q} else 2)"]

    def free_parameter(self):
        value, p, x = self.real(1), self.name(), self.unknown()
        self.declarations.append(f"parameter Real {p}(start = 1, fixed = false)")
        self.initial.append(f"{x} = {self.random.uniform(1, 3):.3g}")
        self.equations.append(f"{x} = {p} + 0.1*tanh({value})")
        self.reals.append(x)

    def choice(self):
        x, y, mode = self.unknown(), self.unknown(), self.name()
        self.declarations.append(f"parameter E {mode} = E.{self.random.choice(['slow', 'fast'])}")
        a, b = self.real(1), self.real(1)
        self.equations += [f"if {mode} == E.slow then {x} = {a}; {y} = 1; elseif time > 0.4 then {x} = {b}; {y} = {x}; else {y} = 2; {x} = 0.1; end if"]
        self.reals += [x, y]

    def loop(self):
        name, size = self.name(), self.random.randint(2, 4)
        self.declarations.append(f"Real {name}[{size}]")
        self.equations.append(f"for i in 1:{size} loop {name}[i] = i*{self.real(1)}; end for")
        self.reals.append(f"{name}[{size}]")

    def second_derivative(self):
        x, v = self.unknown("(start = 1, fixed = true)"), self.unknown("(start = 0, fixed = true)")
        self.equations += [f"der({x}) = {v}", f"der({v}) = -{x} - 0.1*{v}"]
        self.reals += [x, v, f"der({v})"]

    def homotopy(self):
        x = self.unknown("(start = 1)")
        self.equations.append(f"homotopy({x} + 0.1*sin({x}), {x}) = 1")
        self.reals.append(x)

    def algorithm(self):
        x, y = self.unknown(), self.unknown()
        self.sections.append(f"algorithm {x} := {self.real(1)}; for i in 1:{self.random.randint(1, 30)} loop {x} := sin({x})*cos({x}) + 0.2; end for; {y} := {x}/2;")
        self.reals += [x, y]

    def branching_algorithm(self):
        x = self.unknown()
        self.sections.append(f"algorithm {x} := {self.real(1)}; for i in 1:{self.random.randint(1, 14)} loop "
                             f"if {x} > 0.5 then {x} := {x}*cos({x}); else {x} := sin({x}) + {x}/2; end if; end for;")
        self.reals.append(x)

    def assertion(self):
        self.count += 1
        self.equations.append(f"assert(time^2 + {self.count}*{self.real(1)} > -1e9, \"{self.count} \\\"in\\\" quotes\" + String(time), AssertionLevel.warning)")
        self.expect("assert(", 1)

    # ---- pieces with events, which are read and analyzed ----

    def expect(self, word, count):
        self.words[word] = self.words.get(word, 0) + count

    def bouncing(self):
        x, v, e = self.unknown("(start = 1, fixed = true)"), self.unknown("(start = 0, fixed = true)"), self.name()
        self.declarations.append(f"parameter Real {e} = 0.7")
        self.equations += [f"der({x}) = {v}", f"der({v}) = -9.81", f"when {x} < 0 then reinit({v}, -{e}*pre({v})); end when"]
        self.expect("reinit(", 1)
        self.expect("pre(", 1)

    def counter(self):
        n, m = self.name(), self.name()
        self.declarations += [f"Integer {n}(start = 0, fixed = true)", f"discrete Real {m}(start = 1)"]
        self.equations.append(f"when sample(0.1, 0.25) then {n} = pre({n}) + 1; {m} = {self.real(1)}; elsewhen {{{self.real(1)} > 3, initial()}} then {n} = -1; {m} = pre({m})/2; end when")
        self.expect("when sample(", 1)
        self.expect("elsewhen {", 1)
        self.reals.append(m)

    def booleans(self):
        a, b, c = self.name(), self.name(), self.name()
        self.declarations += [f"Boolean {a}", f"input Boolean {b} = not ({self.real(1)} > 0)", f"Integer {c}(start = 3)"]
        self.equations += [f"{a} = {b} and time > 0.3 or {self.real(1)} > 1", f"when {{edge({a}), change({b})}} then {c} = if {a} then 1 else integer(time); end when"]
        self.expect(" and not pre(", 1)  # the meaning of edge
        self.expect(" <> pre(", 1)

    def modes(self):
        mode, word = self.name(), self.name()
        self.declarations += [f"E {mode}(start = E.slow, fixed = true)", f"String {word}"]
        self.equations += [f"when time > 0.5 then {mode} = if pre({mode}) == E.slow then E.'very fast' else E.fast; end when",
                           f"{word} = if {mode} == E.slow then \"sl\\\"ow\" else text(time > 0.7)"]

    def discrete_record(self):
        d = self.name()
        self.declarations.append(f"D {d}(n(start = 1, fixed = true), b(start = true, fixed = true), e(start = E.slow, fixed = true), r(start = 0, fixed = true))")
        if self.random.random() < 0.5:
            self.equations.append(f"when sample(0.1, 0.2) then {d}.n = pre({d}.n) + 1; {d}.b = not pre({d}.b); {d}.e = if pre({d}.b) then E.fast else E.slow; {d}.r = {self.real(1)}; end when")
        else:
            self.sections.append(f"algorithm when sample(0.1, 0.2) then {d}.n := pre({d}.n) + 1; {d}.b := not {d}.b; if {d}.b then {d}.e := E.fast; else {d}.e := E.'very fast'; end if; {d}.r := {self.real(1)}; end when;")
        self.reals += [f"{d}.r", f"(if {d}.b then 1 else {d}.n)", f"(if {d}.e == E.fast then 0.5 else 0.2)"]

    def kinds(self):
        n, e, b, m, f, c, d = (self.name() for _ in range(7))
        k = self.random.randint(1, 14)
        self.declarations += [f"Integer {n}(start = 1)", f"E {e}(start = E.slow)", f"Boolean {b}(start = true)",
                              f"Integer {m}", f"E {f}", f"Boolean {c}", f"E {d}"]
        self.equations += [f"when sample(0, 0.1) then {n} = pre({n}) + 1; {e} = E(mod(pre({n}), 3) + 1); {b} = not pre({b}); end when",
                           f"{m} = squares({n}, {k})", f"{f} = turned({e}, {b}, {k})", f"{c} = parity({b}, {m} > 3, {k})", f"{d} = counted({n})"]

    def machine(self):
        n, k = self.name(), self.name()
        self.declarations += [f"Integer {n}(start = 0)", f"Real {k}"]
        self.equations.append(f"{k} = {n} + Integer(E.fast)*{self.real(1)}")
        self.sections.append(f"algorithm when time > 0.2 then {n} := 1; end when; when {{time > 0.4, terminal()}} then {n} := pre({n}) + 2; end when;")
        self.expect(":=", 2)

    def text(self):
        self.is_hybrid = self.random.random() < 0.5
        pieces = [self.state, self.algebraic, self.bound, self.bound_array, self.bound_record, self.array, self.five_dimensions, self.record,
                  self.parameters, self.free_parameter, self.choice, self.loop, self.second_derivative, self.homotopy, self.algorithm,
                  self.branching_algorithm, self.assertion, self.made_record, self.records_of_states, self.by_literals]
        if self.is_hybrid:
            pieces += [self.discrete_record, self.bouncing, self.counter, self.booleans, self.modes, self.kinds, self.machine] * 2
        self.state()
        for _ in range(self.random.randint(4, 9)):
            self.random.choice(pieces)()
        lines = ["model M \"with \\\"quotes\\\"\"" + DEFINITIONS] + [f"  {line};" for line in self.declarations]
        lines += ["initial equation"] * bool(self.initial) + [f"  {line};" for line in self.initial]
        lines += ["equation"] + [f"  {line};" for line in self.equations] + self.sections
        return "\n".join(lines + ["  annotation(experiment(StopTime = 0.8, Tolerance = 1e-8));", "end M;"]) + "\n"


def run(*arguments):
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def figures(path):
    code, text, _ = run("analyze", path, "--json")
    report = json.loads(text)
    return {key: report.get(key) for key in FIGURES} | {"exit": code, "length": len(text) > LONGEST}


def last_values(path):
    code, text, words = run("simulate", path, "--output-file", "-", "--intervals", "4")
    rows = list(csv.reader(io.StringIO(text)))
    return code, dict(zip(rows[0], map(float, rows[-1]))) if len(rows) > 1 else words


def differences(a, b):
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [] if type(a) is type(b) else [f"{a!r} and {b!r}"]
    return [f"{name}: {a.get(name)} and {b.get(name)}" for name in a | b
            if name not in a or name not in b or abs(a[name] - b[name]) > 1e-6*(1 + abs(a[name]))]


def text_failures(path, flat):
    """Flattening the flat text again gives the same text. Reading may decide a condition on a final parameter that came from a
    function; then this holds for the next text."""
    for _ in range(2):
        code, again, words = run("flatten", path)
        if code:
            return [f"the flat text: exit {code} {words}"]
        if again == flat:
            return []
        if "final parameter" not in flat:
            break
        path.write_text(again)
        flat = again
    return ["the flat text of the flat text differs"]


def failures_of(builder, source, flat_path):
    code, flat, words = run("flatten", source)
    if code:
        return [f"exit {code}: {words}"]
    failures = [f"{len(flat)} characters"] if len(flat) > LONGEST else []
    failures += [f"{word!r} occurs less than {count} times" for word, count in builder.words.items() if flat.count(word) < count]
    flat_path.write_text(flat)
    failures += text_failures(flat_path, flat)
    if failures:
        return failures
    checks = [re.sub(r"^.*?: ", "", run("check", path)[2]) for path in (source, flat_path)]
    if checks[0] != checks[1]:
        failures.append(f"check: {checks}")
    reports = [figures(path) for path in (source, flat_path)]
    if reports[0] != reports[1] or reports[0]["length"]:
        failures.append(f"analyze: {reports}")
    (code, values), (flat_code, flat_values) = last_values(source), last_values(flat_path)
    failures += differences(values, flat_values) + [f"simulate: exit {code} and {flat_code}"] * (code != flat_code)
    return failures


def long_models():
    """Models whose expressions have exponentially many equal parts, or very many terms, by name."""
    count = 300
    squares = " + ".join(f"x[{i}]^2" for i in range(1, count + 1))
    chain = "".join(f"x{i} = der(x{i - 1}); " for i in range(1, 28))
    names = ", ".join(f"x{i}" for i in range(28))
    rounds = "function rounds input Real x; output Real y; algorithm y := x; for i in 1:120 loop y := sin(y)*cos(y); end for; end rounds;"
    nested = "g(" * 40 + "x" + ")" * 40
    vectors = f"""function g input Real x; output Real y; algorithm y := x; while y > 2 loop y := y/2; end while; end g;
        function h input Real x[2]; output Real y[2]; algorithm y := {nested}; while y[1] > 2 loop y := y/2; end while; end h;"""
    return {
        "chain": f"model L Real {names}; equation x0 = sin(time)*exp(time^2)/(1 + time); {chain} end L;",
        "sum": f"model L Real x[{count}](each start = 1, each fixed = true), z, w; equation der(x) = -x; z = {squares}; w = der(z); end L;",
        "rounds": f"model L {rounds} Real x(start = 1, fixed = true), y, z; equation der(x) = -rounds(x); y = rounds(x); z = der(y); end L;",
        "failing": f"model L {rounds} Real x(start = 1), y; equation rounds(x) = y; rounds(x) = y + 1; end L;",
        "unbalanced": f"model L {rounds} Real x, y; equation rounds(x)*{squares.replace('x[', '(y+')} = y; x = rounds(y); y = rounds(x); end L;".replace("]", ")"),
        "vectors": f"model L {vectors} Real x[2](each start = 1, each fixed = true); equation der(x) = -h(x); end L;",
    }


def long_failures(name, text, source, folder):
    """No command prints much, and only flatten and reduce, whose output is read back, print long lines."""
    source.write_text(text)
    failures = []
    for command in (["check"], ["analyze"], ["analyze", "--json"], ["init"], ["flatten"], ["reduce"], ["export", "--c", folder]):
        _, text, words = run(command[0], source, *command[1:])
        is_source = command[0] in ("flatten", "reduce")
        longest = max(map(len, (words if is_source or "--json" in command else text + words).split("\n")))
        if len(text + words) > 2*LONGEST or longest > LONGEST_LINE:
            failures.append(f"{name}: {command[0]} prints {len(text + words)} characters, the longest line has {longest}")
    if sum(len(path.read_text()) for path in folder.iterdir() if path.is_file()) > 10*LONGEST:
        failures.append(f"{name}: export writes too much")
    return failures


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, flat = pathlib.Path(folder) / "m.mo", pathlib.Path(folder) / "flat.mo"
        for seed in range(MODELS):
            builder = Builder(seed)
            source.write_text(builder.text())
            failures = failures_of(builder, source, flat)
            failed += bool(failures)
            for failure in failures:
                print(f"seed {seed}: {failure}")
        for name, text in long_models().items():
            failures = long_failures(name, text, source, pathlib.Path(folder))
            failed += bool(failures)
            print("".join(f"{failure}\n" for failure in failures), end="")
    print(f"{MODELS + len(long_models()) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
