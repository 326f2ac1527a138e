"""Functions with records, arrays of records and enumerations, called from whens of equations and of algorithms, compared with the
same program in Python. DAEDAL_MODELS=N makes more of them (runs.py)."""
import copy
import math
import random
import unittest

from runs import Tally, seeds, simulate

LITERALS = ["low", "mid", "high", "top"]
FIELDS = {"R": [("x", "Real"), ("n", "Integer"), ("e", "E"), ("v", ("Real", 3))], "Q": [("r", ("R", 2)), ("z", "Real"), ("b", "Boolean")]}
TYPES = ["Real", "Integer", "Boolean", "E", ("Real", 3), "R", ("R", 2), "Q"]
HEAD = """type E = enumeration(low, mid, high, top);
record R Real x; Integer n; E e; Real v[3]; end R;
record Q R r[2]; Real z; Boolean b; end Q;
function bounded input Real x; output Real y; algorithm y := max(-50, min(50, x)); end bounded;
"""


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a >= 0) == (b >= 0) else -1)


PYTHON = {"cp": copy.deepcopy, "div": truncated, "rem": lambda a, b: a - b * truncated(a, b), "mod": lambda a, b: a % b, "bounded": lambda x: max(-50.0, min(50.0, x)), "prod": math.prod, "floor": math.floor,
          "cross": lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]}


def declared(kind, name):
    return f"{kind} {name}" if isinstance(kind, str) else f"{kind[0]} {name}[{kind[1]}]"


def scalars(name, value, kind):
    """The scalars of a value by their names in results."""
    if isinstance(kind, tuple):
        for k in range(kind[1]):
            yield from scalars(f"{name}[{k + 1}]", value[k], kind[0])
    elif kind in FIELDS:
        for field, inner in FIELDS[kind]:
            yield from scalars(f"{name}.{field}", value[field], inner)
    else:
        yield name, float(value)


class Program:
    """Generates functions; each text is a pair (Modelica, Python)."""

    def __init__(self, rng):
        self.rng, self.functions, self.names = rng, [], 0

    def fresh(self):
        self.names += 1
        return f"i{self.names}"

    def parts(self, modelica, python, kind, iterators):
        """Everything in a variable that can be named, with random subscripts."""
        yield modelica, python, kind
        if isinstance(kind, tuple):
            places = [(str(k + 1), str(k)) for k in range(kind[1])] + [("end", "-1")] + [(name, f"{name} - 1") for name, last in iterators.items() if last <= kind[1]] * 2
            one, other = self.rng.choice(places)
            yield from self.parts(f"{modelica}[{one}]", f"{python}[{other}]", kind[0], iterators)
        for field, inner in FIELDS.get(kind, []) if isinstance(kind, str) else []:
            yield from self.parts(f"{modelica}.{field}", f"{python}['{field}']", inner, iterators)

    def literal(self, kind):
        rng = self.rng
        if isinstance(kind, tuple):
            return self.listed([self.literal(kind[0]) for _ in range(kind[1])])
        if kind in FIELDS:
            return self.record(kind, {field: self.literal(inner) for field, inner in FIELDS[kind]})
        if kind == "E":
            k = rng.randrange(4)
            return f"E.{LITERALS[k]}", str(k + 1)
        if kind == "Boolean":
            return rng.choice([("true", "True"), ("false", "False")])
        value = rng.randrange(-4, 6) if kind == "Integer" else rng.randrange(-12, 13) / 4
        return f"({value})", f"({value})"

    def listed(self, parts):
        return "{" + ", ".join(part[0] for part in parts) + "}", "[" + ", ".join(part[1] for part in parts) + "]"

    def record(self, kind, fields):
        names = list(fields)
        self.rng.shuffle(names)
        by_name = ", ".join(f"{name} = {fields[name][0]}" for name in names)
        return f"{kind}({by_name if self.rng.random() < 0.5 else ', '.join(text for text, _ in fields.values())})", "{" + ", ".join(f"'{name}': {text}" for name, (_, text) in fields.items()) + "}"

    def leaf(self, kind, scope):
        variables, iterators = scope
        found = [(one, f"cp({other})") for name, of in variables.items() for one, other, inner in self.parts(name, name, of, iterators) if inner == kind]
        found += [(name, name) for name in iterators] if kind == "Integer" else []
        return self.rng.choice(found) if found and self.rng.random() < 0.8 else self.literal(kind)

    def value(self, kind, scope, depth=2):
        rng = self.rng
        variables, iterators = scope

        def inner(of, within=scope):
            return self.value(of, within, depth - 1)

        def joined(sign, a, b):
            return f"({a[0]} {sign} {b[0]})", f"({a[1]} {sign if sign != '<>' else '!='} {b[1]})"

        def over(of, function, other):
            name = self.fresh()
            a = inner(of, (variables, {**iterators, name: 3}))
            return f"{function}({a[0]} for {name} in 1:3)", f"{other}([{a[1]} for {name} in (1, 2, 3)])"

        def applied(function, *of):
            a = [inner(one) for one in of]
            return f"{function}({', '.join(one[0] for one in a)})", f"{function}({', '.join(one[1] for one in a)})"

        if depth <= 0:
            return self.leaf(kind, scope)
        called = [f for f in self.functions if f["outputs"][0][1] == kind]
        if called and rng.random() < 0.25:
            function = rng.choice(called)
            given = [inner(of) for _, of in function["inputs"]]
            first = rng.randrange(len(given) + 1)
            named = [f"{name} = {one[0]}" for (name, _), one in list(zip(function["inputs"], given))[first:]]
            rng.shuffle(named)
            return f"{function['name']}({', '.join([one[0] for one in given[:first]] + named)})", f"{function['name']}({', '.join(one[1] for one in given)})[0]"
        if rng.random() < 0.15:
            c, a, b = inner("Boolean"), inner(kind), inner(kind)
            return f"(if {c[0]} then {a[0]} else {b[0]})", f"({a[1]} if {c[1]} else {b[1]})"
        if kind == "Real":
            choice = rng.randrange(8)
            if choice == 0:
                a, b = inner("Integer"), inner("Integer")
                return f"({a[0]} / (4 + abs({b[0]})))", f"({a[1]}/(4 + abs({b[1]})))"
            if choice == 1:
                a, b = inner(("Real", 3)), inner(("Real", 3))
                return f"({a[0]} * {b[0]})", f"sum([p_*q_ for p_, q_ in zip({a[1]}, {b[1]})])"
            if choice == 2:
                function = rng.choice(["sum", "max", "min", "product"])
                a = inner(("Real", 3))
                return f"{function}({a[0]})", f"{'prod' if function == 'product' else function}({a[1]})"
            if choice == 3:
                return over("Real", *rng.choice([("sum", "sum"), ("max", "max"), ("product", "prod")]))
            names = [name for name, of in variables.items() if of == ("R", 2)]
            if choice == 4 and names:
                name = rng.choice(names)
                return rng.choice([(f"sum({name}.x)", f"sum([q_['x'] for q_ in {name}])"), (f"sum({name}.v[2])", f"sum([q_['v'][1] for q_ in {name}])"),
                                   (f"sum({name}[:].v[{{1, 3}}])", f"sum([q_['v'][0] + q_['v'][2] for q_ in {name}])"), (f"({name}.x * {name}.v[end])", f"sum([q_['x']*q_['v'][-1] for q_ in {name}])")])
            return rng.choice([lambda: joined(rng.choice("+-*"), inner("Real"), inner(rng.choice(["Real", "Integer"]))), lambda: applied(rng.choice(["max", "min"]), "Real", "Real"), lambda: applied("abs", "Real")])()
        if kind == "Integer":
            choice = rng.randrange(6)
            if choice == 0:
                a, b = inner("Integer"), rng.choice([2, 3, 5, -3])
                function = rng.choice(["mod", "div", "rem"])
                return f"{function}({a[0]}, {b})", f"{function}({a[1]}, {b})"
            if choice == 1:
                a = inner("E")
                return f"Integer({a[0]})", f"int({a[1]})"
            if choice == 2:
                a = inner("Real")
                return f"integer({a[0]})", f"floor({a[1]})"
            if choice == 3:
                name, a = self.fresh(), self.leaf("E", scope)
                return f"sum(if {name} < {a[0]} then Integer({name}) else 0 for {name} in E)", f"sum([{name} if {name} < {a[1]} else 0 for {name} in (1, 2, 3, 4)])"
            return joined(rng.choice("+-*"), inner("Integer"), inner("Integer"))
        if kind == "Boolean":
            choice = rng.randrange(6)
            if choice < 2:
                return joined(rng.choice(["and", "or"]), inner("Boolean"), inner("Boolean"))
            if choice == 2:
                a = inner("Boolean")
                return f"(not {a[0]})", f"(not {a[1]})"
            of = rng.choice(["Integer", "E", "Real", "Boolean"])
            return joined(rng.choice({"Real": ["<", ">="], "Boolean": ["==", "<>"]}.get(of, ["<", "<=", ">", "==", "<>"])), inner(of), inner(of))
        if kind == ("Real", 3):
            choice = rng.randrange(5)
            if choice == 0:
                sign, a, b = rng.choice("+-"), inner(kind), inner(kind)
                return f"({a[0]} {sign} {b[0]})", f"[p_ {sign} q_ for p_, q_ in zip({a[1]}, {b[1]})]"
            if choice == 1:
                a, b = inner("Real"), inner(kind)
                return f"({a[0]} * {b[0]})", f"[{a[1]}*q_ for q_ in {b[1]}]"
            if choice == 2:
                one, other = over("Real", "", "")
                return "{" + one[1:-1] + "}", other[1:-1]
            if choice == 3:
                return applied("cross", kind, kind)
        if isinstance(kind, tuple):
            return self.listed([inner(kind[0]) for _ in range(kind[1])])
        if kind == "E" or rng.random() < 0.4:
            return self.leaf(kind, scope)
        return self.record(kind, {field: inner(of) for field, of in FIELDS[kind]})

    def statements(self, scope, places, count, depth, indent, out):
        rng = self.rng
        variables, iterators = scope
        tab, space = "  " * indent, "    " * (indent - 1)
        for _ in range(count):
            choice = rng.random() if depth else 0
            if choice < 0.6:
                one, other, kind = rng.choice([part for name, of in places.items() for part in self.parts(name, name, of, iterators)])
                a = self.value(kind, scope)
                a = {"Integer": (f"mod({a[0]}, 97)", f"mod({a[1]}, 97)"), "Real": (f"bounded({a[0]})", f"bounded({a[1]})")}.get(kind, a)
                out.append((f"{tab}{one} := {a[0]};", f"{space}{other} = {a[1]}"))
            elif choice < 0.78:
                for word, other in [("if", "if"), ("elseif", "elif"), ("else", "else")][:rng.randrange(1, 4)]:
                    c = self.value("Boolean", scope)
                    out.append((f"{tab}{word} {c[0]} then", f"{space}{other} {c[1]}:") if word != "else" else (f"{tab}else", f"{space}else:"))
                    self.statements(scope, places, 1, depth - 1, indent + 1, out)
                out.append((f"{tab}end if;", ""))
            elif choice < 0.95:
                name, (one, other, last) = self.fresh(), rng.choice([("1:3", "(1, 2, 3)", 3), ("3:-1:1", "(3, 2, 1)", 3), ("{2, 1}", "(2, 1)", 2)])
                within = (variables, {**iterators, name: last})
                out.append((f"{tab}for {name} in {one} loop", f"{space}for {name} in {other}:"))
                if rng.random() < 0.3:
                    c = self.value("Boolean", within, 1)
                    out.append((f"{tab}  if {c[0]} then break; end if;", f"{space}    if {c[1]}: break"))
                self.statements(within, places, rng.randrange(1, 3), depth - 1, indent + 1, out)
                out.append((f"{tab}end for;", ""))
            else:
                c = self.value("Boolean", scope, 1)
                out.append((f"{tab}if {c[0]} then return; end if;", f"{space}if {c[1]}: return RESULTS"))

    def function(self):
        rng = self.rng
        name = f"f{len(self.functions)}"
        inputs, outputs, hidden = ([(f"{letter}{k}", rng.choice(TYPES)) for k in range(count)] for letter, count in (("u", rng.randrange(1, 4)), ("y", rng.randrange(1, 3)), ("p", rng.randrange(0, 3))))
        lines, given = [], (dict(inputs), {})
        body = [(f"  {one} := {value[0]};", f"    {one} = {value[1]}") for one, kind in outputs + hidden for value in [self.value(kind, given, 1)]]
        self.statements((dict(inputs + outputs + hidden), {}), dict(outputs + hidden), rng.randrange(3, 7), 2, 2, body)
        lines += [f"  {prefix}{declared(kind, one)};" for prefix, group in (("input ", inputs), ("output ", outputs)) for one, kind in group]
        lines += ["protected"] * bool(hidden) + [f"  {declared(kind, one)};" for one, kind in hidden]
        results = "(" + ", ".join(one for one, _ in outputs) + ",)"
        self.functions.append({"name": name, "inputs": inputs, "outputs": outputs})
        python = [f"def {name}({', '.join(one for one, _ in inputs)}):", *(line.replace("RESULTS", results) for _, line in body), f"    return {results}"]
        return "\n".join([f"function {name}", *lines, "algorithm", *(line for line, _ in body), f"end {name};"]) + "\n", "\n".join(python) + "\n"

    def model(self):
        texts = [self.function() for _ in range(self.rng.randrange(1, 4))]
        last = self.functions[-1]
        self.functions, outputs = [], last["outputs"]
        given = [self.value(kind, ({"d": "Integer", "q": "Real"}, {})) for _, kind in last["inputs"]]
        section, sign = self.rng.choice([("equation", "="), ("algorithm", ":=")])
        call = f"{last['name']}({', '.join(one[0] for one in given)})"
        text = HEAD + "".join(one for one, _ in texts) + "model M\n  Integer d(start = 0, fixed = true); discrete Real q(start = 0.25, fixed = true);\n" + "".join(f"  {declared(kind, f'o{k}')};\n" for k, (_, kind) in enumerate(outputs))
        text += f"{section}\n  when sample(0, 0.125) then\n    d {sign} pre(d) + 1;\n    q {sign} pre(q)*0.5 + d;\n    ({', '.join(f'o{k}' for k in range(len(outputs)))}) {sign} {call};\n  end when;\nend M;\n"
        return text, "".join(other for _, other in texts) + f"def call(d, q):\n    return {last['name']}({', '.join(one[1] for one in given)})\n", outputs


class Programs(unittest.TestCase):
    def test_generated(self):
        tally = Tally("programs with records")
        for seed in seeds(400, quick=40):
            text, python, outputs = Program(random.Random(seed)).model()
            names = dict(PYTHON)
            exec(python, names)  # pylint: disable=exec-used
            d, q, wanted = 0, 0.25, []
            for _ in range(9):
                d += 1
                q = q * 0.5 + d
                wanted.append({name: value for k, (_, kind) in enumerate(outputs) for name, value in scalars(f"o{k}", names["call"](d, q)[k], kind)})
            run = simulate(text, intervals=16, stop_time=1)
            wrong = {}
            for k, values in enumerate(wanted if run.status == 0 else []):
                row = max(i for i, t in enumerate(run.columns["time"]) if t <= k * 0.125 + 1e-9)
                wrong |= {(name, k): (run.columns[name][row], value) for name, value in values.items() if abs(run.columns[name][row] - value) > 1e-9 * (1 + abs(value))}
            tally.add(run, lambda wrong=wrong: not wrong, seed, wrong, text)
        tally.check(self, may_refuse=0.02)


if __name__ == "__main__":
    unittest.main()
