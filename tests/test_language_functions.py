"""Functions have one meaning however they are evaluated: random algorithms are written in Modelica and in Python at once. Their
values are compared for arguments that are parameters, for arguments that vary (the function becomes expressions), and after a loop
of unknown length (it is called during the run). DAEDAL_MODELS=N makes more of them (runs.py)."""
import math
import random
import re
import unittest

from runs import Tally, seeds, simulate

OUTPUTS = "return x, y, a, m, k, b, g"


class Algorithm:
    """Generates statements and expressions; each is a pair (Modelica, Python)."""

    def __init__(self, rng):
        self.rng, self.loops, self.counters = rng, 0, 0

    def number(self, *choices):
        value = self.rng.choice(choices)
        return f"({value})", f"({value})"

    def place(self, size):
        """A subscript within 1 to size."""
        if self.rng.random() < 0.3:
            return self.number(*range(1, size + 1))
        e = self.integer(1)
        return f"(1 + mod({e[0]}, {size}))", f"(1 + {e[1]} % {size})"

    def leaf(self):
        kind = self.rng.randrange(6)
        if kind == 0:
            return self.number(0.5, 1.5, -2.25, 3, -1)
        if kind == 1:
            i = self.place(3)
            return f"a[{i[0]}]", f"a[{i[1]} - 1]"
        if kind == 2:
            i, j = self.place(2), self.place(3)
            return self.rng.choice([(f"m[{i[0]}, {j[0]}]", f"m[{i[1]} - 1][{j[1]} - 1]"), (f"g[{i[0]}].v[{j[0]}]", f"g[{i[1]} - 1][{j[1]} - 1]")])
        return ("u", "x", "y")[kind - 3], ("u", "x", "y")[kind - 3]

    def real(self, depth=2):
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf()
        kind, one = self.rng.randrange(8), self.real(depth - 1)
        if kind < 3:
            two, sign = self.real(depth - 1), self.rng.choice("+-*")
            return self.rng.choice([(f"({one[0]} {sign} {two[0]})", f"({one[1]} {sign} {two[1]})"), (f"({one[0]}/(2 + abs({two[0]})))", f"({one[1]}/(2 + abs({two[1]})))"),
                                    (f"max({one[0]}, {two[0]})", f"max({one[1]}, {two[1]})")])
        if kind == 3:
            c, two = self.boolean(depth - 1), self.real(depth - 1)
            return f"(if {c[0]} then {one[0]} else {two[0]})", f"({one[1]} if {c[1]} else {two[1]})"
        if kind == 4:
            c = self.boolean(0)
            return f"w[{c[0]}]", f"w[int({c[1]})]"
        if kind == 5:
            j = self.place(3)
            return f"sum(g.v[{j[0]}])", f"sum(q[{j[1]} - 1] for q in g)"
        if kind == 6:
            return f"sum(a[i]*{one[0]} for i in 1:2)", f"sum(a[i]*{one[1]} for i in (0, 1))"
        name = self.rng.choice(["sin", "cos", "tanh"])
        return f"{name}({one[0]})", f"math.{name}({one[1]})"

    def integer(self, depth=2):
        if depth == 0 or self.rng.random() < 0.3:
            name = self.rng.choice(["j", "k", "n"] + [f"i{i + 1}" for i in range(self.loops)])
            return name, name
        one, kind = self.integer(depth - 1), self.rng.randrange(6)
        if kind == 0:
            two, sign = self.integer(depth - 1), self.rng.choice("+-")
            return f"({one[0]} {sign} {two[0]})", f"({one[1]} {sign} {two[1]})"
        if kind == 1:
            real = self.real(1)
            return f"integer(2*tanh({real[0]}))", f"math.floor(2*math.tanh({real[1]}))"
        return ((f"div({one[0]}, 2)", f"int({one[1]}/2)"), (f"mod({one[0]}, 3)", f"({one[1]} % 3)"), (f"rem({one[0]}, 3)", f"int(math.fmod({one[1]}, 3))"), self.number(-3, -2, -1, 0, 1, 2, 3))[kind - 2]

    def boolean(self, depth):
        kind = self.rng.randrange(5)
        if kind == 0:
            return "b", "b"
        if kind == 1 or depth == 0:
            e, relation, bound = self.integer(1), self.rng.choice(["<", ">=", "==", "<>"]), self.rng.randint(-1, 3)
            return f"({e[0]} {relation} {bound})", f"({e[1]} {relation.replace('<>', '!=')} {bound})"
        if kind == 2:
            e, relation = self.real(1), self.rng.choice(["< 0.31", "> -0.73"])
            return f"({e[0]} {relation})", f"({e[1]} {relation})"
        one, two, word = self.boolean(depth - 1), self.boolean(depth - 1), self.rng.choice(["and", "or"])
        return (f"(not {one[0]})", f"(not {one[1]})") if kind == 3 else (f"({one[0]} {word} {two[0]})", f"({one[1]} {word} {two[1]})")

    def bounded(self, depth=2):
        e = self.real(depth)
        return f"3*tanh({e[0]})", f"3*math.tanh({e[1]})"

    def assignment(self, indent):
        i, j, e, whole, truth = self.place(2), self.place(3), self.bounded(), self.integer(), self.boolean(1)
        name, counter = self.rng.choice("xy"), self.rng.choice("jk")
        one, other = self.rng.choice([
            (f"{name} := {e[0]};", f"{name} = {e[1]}"), (f"a[{j[0]}] := {e[0]};", f"a[{j[1]} - 1] = {e[1]}"),
            (f"m[{i[0]}, {j[0]}] := {e[0]};", f"m[{i[1]} - 1][{j[1]} - 1] = {e[1]}"), (f"{counter} := mod({whole[0]}, 5);", f"{counter} = {whole[1]} % 5"), (f"b := {truth[0]};", f"b = {truth[1]}"),
            (f"m[{i[0]}, :] := a*({e[0]});", f"m[{i[1]} - 1] = [q*({e[1]}) for q in a]"), (f"g[{i[0]}].v[{j[0]}] := {e[0]};", f"g[{i[1]} - 1][{j[1]} - 1] = {e[1]}"),
            (f"g.v[{j[0]}] := m[:, 2]*0.5 .+ ({e[0]});", f"new, at = [q[1]*0.5 + {e[1]} for q in m], {j[1]} - 1; g[0][at], g[1][at] = new")])
        return [indent + one], [indent + other]

    def leaving(self, indent, condition=None):
        """return, or break inside a loop; with a condition if one is given."""
        one, other = ("break;", "break") if self.loops and self.rng.random() < 0.5 else ("return;", OUTPUTS)
        return [f"{indent}if {condition[0]} then {one} end if;" if condition else indent + one], [f"{indent}if {condition[1]}: {other}" if condition else indent + other]

    def block(self, count, indent, depth):
        lines = [], []
        for _ in range(count):
            for list_, more in zip(lines, self.statement(indent, depth)):
                list_.extend(more)
        return lines

    def branch(self, indent, depth):
        lines = self.block(self.rng.randint(1, 2), indent, depth)
        if self.rng.random() < 0.2:
            for list_, more in zip(lines, self.leaving(indent)):
                list_.extend(more)
        return lines

    def statement(self, indent, depth):
        kind = self.rng.randrange(15) if depth else 0
        if kind < 8:
            return self.assignment(indent)
        if kind < 11:
            return self.choice(indent, depth - 1)
        if kind == 14:
            return self.leaving(indent, self.boolean(1))
        return self.loop(indent, depth - 1) if kind < 13 else self.counted(indent, depth - 1)

    def choice(self, indent, depth):
        one, other = [], []
        for word, python in ((("if", "if"), ("elseif", "elif")) if self.rng.random() < 0.4 else (("if", "if"),)):
            c, inner = self.boolean(1), self.branch(indent + "  ", depth)
            one += [f"{indent}{word} {c[0]} then", *inner[0]]
            other += [f"{indent}{python} {c[1]}:", *inner[1]]
        if self.rng.random() < 0.6:
            inner = self.branch(indent + "  ", depth)
            one, other = one + [indent + "else", *inner[0]], other + [indent + "else:", *inner[1]]
        return one + [indent + "end if;"], other

    def loop(self, indent, depth):
        self.loops += 1
        values, python = self.rng.choice([("1:3", "(1, 2, 3)"), ("3:-1:1", "(3, 2, 1)"), ("{2, 3, 1}", "(2, 3, 1)"), ("1:0", "()")])
        inner = self.block(self.rng.randint(1, 2), indent + "  ", depth)
        if self.rng.random() < 0.5:
            for list_, more in zip(inner, self.leaving(indent + "  ", self.boolean(1))):
                list_.extend(more)
        name, self.loops = f"i{self.loops}", self.loops - 1
        return [f"{indent}for {name} in {values} loop", *inner[0], indent + "end for;"], [f"{indent}for {name} in {python}:", *inner[1]]

    def counted(self, indent, depth):
        self.counters += 1
        name, turns, loops = f"c{self.counters}", self.rng.randint(0, 3), self.loops
        self.loops = 0  # no break here: it would leave the loop before the counter is increased
        inner = self.block(1, indent + "  ", depth)
        self.loops = loops
        return ([f"{indent}{name} := 0; while {name} < {turns} loop", *inner[0], f"{indent}  {name} := {name} + 1;", indent + "end while;"],
                [f"{indent}{name} = 0", f"{indent}while {name} < {turns}:", *inner[1], f"{indent}  {name} += 1"])


HEAD = """model M
  record V Real v[3]; end V;
  function f input Real u; input Integer n; output Real x; output Real y; output Real a[3]; output Real m[2, 3]; output Integer k; output Boolean b; output V g[2];
    protected Real w[Boolean] = {2.5, -1.5}; Integer j, COUNTERS;
  algorithm
    LOOP x := 0.25; y := u; a := {1, 2, u}; m := {{u, 1, 2}, {3, 4, 5}}; k := 1; b := false; j := n; g := {V({1, 2, 3}), V({4, u, 6})};
BODY
  end f;
  parameter Real p = VALUE; Real x, y, a[3], m[2, 3]; Integer k; Boolean b; V g[2];
equation
  (x, y, a, m, k, b, g) = f(ARGUMENT, NUMBER);
end M;
"""
PYTHON = "def f(u, n):\n    x, y, a, m, k, b, j, w, g = 0.25, u, [1, 2, u], [[u, 1, 2], [3, 4, 5]], 1, False, n, [2.5, -1.5], [[1, 2, 3], [4, u, 6]]\n"


def expected(body, u, n):
    found = {"math": math}
    exec(PYTHON + "\n".join(body) + "\n    " + OUTPUTS, found)
    x, y, a, m, k, b, g = found["f"](u, n)
    values = {"x": x, "y": y, "k": k, "b": float(b)} | {f"a[{i + 1}]": v for i, v in enumerate(a)}
    for name, rows in (("m[{},{}]", m), ("g[{}].v[{}]", g)):
        values |= {name.format(i + 1, j + 1): v for i, row in enumerate(rows) for j, v in enumerate(row)}
    return values


class Functions(unittest.TestCase):
    def test_generated(self):
        tally = Tally("functions")
        for seed in seeds(400, quick=60):
            rng = random.Random(seed)
            u, n, drawn = rng.choice([0.8, -0.6, 1.7]), rng.randrange(-1, 3), Algorithm(rng)
            body = drawn.block(rng.randint(3, 7), "    ", 2)
            wanted = expected(body[1], u, n)
            counters = ", ".join(["turn", *(f"c{k + 1}" for k in range(drawn.counters))])
            for argument, loop in (("p", ""), ("p*time", ""), ("p*time", "turn := 0; while turn < u loop turn := turn + 1; end while;")):
                text = HEAD
                for word, value in (("COUNTERS", counters), ("LOOP", loop), ("BODY", "\n".join(body[0])), ("VALUE", u), ("ARGUMENT", argument), ("NUMBER", n)):
                    text = re.sub(rf"\b{word}\b", lambda _, value=value: str(value), text)
                run = simulate(text, intervals=2, stop_time=1)
                wrong = run.status == 0 and {v: (run.end(v), w) for v, w in wanted.items() if abs(run.end(v) - w) > 1e-7 * (1 + abs(w))}
                tally.add(run, lambda wrong=wrong: not wrong, seed, argument, wrong, text)
        tally.check(self)

    def test_subscripts_out_of_range(self):
        """A varying subscript is evaluated during the run, wherever it is used, even in assignments."""
        for seed in seeds(60, quick=12):
            rng = random.Random(seed)
            size, steps = rng.randrange(2, 6), rng.randrange(2, 9)
            use = rng.choice(["y = v[{k}];", "y = sum(v[i] for i in 1:{n}) + v[{k}];", "y = if {k} > {n} then 0 else v[{k}];", "y = if true then v[{k}] else 0;", "algorithm w := v; w[{k}] := 9; y := w[1];",
                              "y = f({k}*1.0);", "y = v[min({k}, {n})];"])
            text = (f"model M\n  function f input Real u; output Real y; protected Integer i; Real v[{size}]; algorithm v := ones({size}); i := 0; while i < u loop i := i + 1; end while; y := v[i]; end f;\n"
                    f"  parameter Real v[{size}] = {{{', '.join(map(str, range(size)))}}}; Integer k; Real y{f', w[{size}]' if 'w :=' in use else ''};\nequation\n  k = 1 + integer({steps}*time);\n  {use.format(k='k', n=size)}\nend M;\n")
            is_safe = "> {n}" in use or "min(" in use
            run = simulate(text, intervals=3, stop_time=0.95)
            with self.subTest(seed=seed, text=text):
                last = 1 + math.floor(steps * 0.95)
                self.assertEqual(run.status, 0 if is_safe or last <= size else 6, run.words)


if __name__ == "__main__":
    unittest.main()
