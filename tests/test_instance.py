"""Classes, modifications and instances: generated hierarchies whose parameters are known from a model of the rules in Python (the
outermost modification counts), small models of each feature with known values, and messages."""
import json
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
REDUCED = os.environ.get("BUILD_KIND") == "asan"
COUNT = int(os.environ.get("INSTANCE_MODELS", "6" if REDUCED else "30"))


def run(text, command, *arguments):
    path = os.path.join(WORK, "m.mo")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([DAEDAL, command, path, *arguments], capture_output=True, text=True, cwd=WORK)


def final_values(text, *arguments):
    done = run(text, "simulate", "--quiet", "--output-file", "out.csv", "--json", "out.json", "--stop-time", "1", *arguments)
    if done.returncode:
        raise AssertionError(done.stderr + text)
    with open(os.path.join(WORK, "out.json"), encoding="utf-8") as file:
        return json.load(file)["final"]


def merged(inner, outer):
    """Modifications of a record, and those from outside, which override them."""
    made = dict(inner)
    for field, change in outer.items():
        made[field] = merged(made[field], change) if isinstance(change, dict) and isinstance(made.get(field), dict) else change
    return made


class Records:
    """Record classes with and without values of their fields, and functions that declare, make and pass such records. Values follow
    the rules: a modification from outside overrides the class, and names in a value belong to the place where it is written."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.classes = {}  # name -> list of (field, kind, count, value or None, modifications)
        self.lines = ["constant Real k = 3;"]
        for number in range(self.pick.randint(1, 3)):
            self.make_class(f"R{number}")

    def term(self, names):
        """(text, function of a scope's values)"""
        scale = self.pick.randint(2, 9)
        if names and self.pick.random() < 0.7:
            name = self.pick.choice(names)
            return f"{scale}*{name} + 1", lambda scope: scale * scope(name) + 1
        if self.pick.random() < 0.3:
            return f"{scale} + k", lambda scope: scale + 3
        return f"{scale}", lambda scope: scale

    def make_class(self, name):
        fields, scalars = [], []
        base = self.pick.choice([None, *self.classes])
        text = ""
        if base and self.pick.random() < 0.4:
            changes = self.modifications(base, [], 0.3)
            text += f"extends {base}{self.modification_text(changes)}; "
            fields = [self.changed(field, changes) for field in self.classes[base]]
            scalars = [field[0] for field in fields if field[1] == "Real" and not field[2]]
        for number in range(self.pick.randint(1, 4)):
            field = f"{name.lower()}{'abcd'[number]}"
            inner = self.pick.choice(list(self.classes)) if self.classes and self.pick.random() < 0.35 else None
            if inner:
                count = self.pick.choice([0, 0, 2])
                changes = self.modifications(inner, [] if count else scalars, 0.5, count)
                text += f"{inner} {field}{f'[{count}]' if count else ''}{self.modification_text(changes)}; "
                fields.append((field, inner, count, None, changes))
                continue
            count = self.pick.choice([0, 0, 0, 2])
            value = self.term(scalars) if self.pick.random() < 0.6 else None
            if value and count:
                text += f"Real {field}[{count}] = fill({value[0]}, {count}); "
            else:
                text += f"Real {field}{f'[{count}]' if count else ''}{' = ' + value[0] if value else ''}; "
            fields.append((field, "Real", count, value, {}))
            if not count:
                scalars.append(field)
        self.classes[name] = fields
        self.lines.append(f"record {name} {text}end {name};")

    def changed(self, field, changes):
        """A field of a base class as `extends Base(changes)` leaves it."""
        name, kind, count, value, inner = field
        if name not in changes:
            return field
        change = changes[name]
        if kind == "Real":
            return (name, kind, count, change, inner)
        return (name, kind, count, value, merged(inner, change))

    def modifications(self, kind, names, chance, count=0):
        """{field: (text, value)} of scalars, {field: {...}} of records. For an array there is one value for each element."""
        chosen = {}
        for field, inner, size, _, _ in self.classes[kind]:
            if self.pick.random() > chance:
                continue
            if inner != "Real":
                if not size:
                    nested = self.modifications(inner, names, 0.6, count)
                    if nested:
                        chosen[field] = nested
            elif not size:
                text, value = self.term(names)
                if count and self.pick.random() < 0.5:
                    extra = self.pick.randint(10, 99)
                    chosen[field] = ("{" + text + f", {extra}" + "}", value, extra)
                elif count:
                    chosen[field] = ("each", text, value)
                else:
                    chosen[field] = (text, value)
        return chosen

    def modification_text(self, changes):
        if not changes:
            return ""
        parts = []
        for field, change in changes.items():
            if isinstance(change, dict):
                parts.append(field + self.modification_text(change))
            elif change[0] == "each":
                parts.append(f"each {field} = {change[1]}")
            else:
                parts.append(f"{field} = {change[0]}")
        return "(" + ", ".join(parts) + ")"

    def leaves(self, kind, path, scope, changes, element=None):
        """{path: () -> value, or None where there is none}. `changes`: [(modifications, scope, element)], the outermost first."""
        found = {}

        def own(name):
            return found[f"{path}.{name}"]()

        for field, inner, count, value, inside in self.classes[kind]:
            here = [(change[0][field], change[1], change[2]) for change in changes if field in change[0]]
            if inner == "Real":
                if here:
                    change, where, which = here[0]
                    if change[0] == "each":
                        one = lambda change=change, where=where: change[2](where)
                    elif len(change) == 3:
                        one = lambda change=change, where=where, which=which: change[1](where) if which == 0 else change[2]
                    else:
                        one = lambda change=change, where=where: change[1](where)
                else:
                    one = (lambda value=value: value[1](own)) if value else None
                for i in range(count or 1):
                    found[f"{path}.{field}" + (f"[{i + 1}]" if count else "")] = one
                continue
            for i in range(count or 1):
                below = here + [(inside, own, i if count else None)]
                name = f"{path}.{field}" + (f"[{i + 1}]" if count else "")
                found.update(self.leaves(inner, name, own, below))
        return found

    def construct(self, kind, path, names, where):
        """(text of a call of the constructor, {path: () -> value}). Fields without a value in the class are given, other fields may
        be."""
        found, given = {}, []

        def own(name):
            return found[f"{path}.{name}"]()

        for field, inner, count, value, inside in self.classes[kind]:
            place = [f"{path}.{field}" + (f"[{i + 1}]" if count else "") for i in range(count or 1)]
            if inner == "Real":
                is_given = not value or self.pick.random() < 0.3
                term = self.term(names) if is_given else value
                scope = where if is_given else own
                found.update({name: lambda term=term, scope=scope: term[1](scope) for name in place})
                if is_given:
                    given.append((field, f"fill({term[0]}, {count})" if count else term[0]))
                continue
            leaves = {} if count else self.leaves(inner, place[0], own, [(inside, own, None)])
            if leaves and self.is_made(inner, inside) and self.pick.random() < 0.6:
                found.update(leaves)
                continue
            texts = []
            for name in place:
                text, values = self.construct(inner, name, names, where)
                texts.append(text)
                found.update(values)
            given.append((field, "{" + ", ".join(texts) + "}" if count else texts[0]))
        fields = [field[0] for field in self.classes[kind]]
        front = 0
        while front < len(given) and given[front][0] == fields[front]:
            front += 1
        front = self.pick.randint(0, front)
        rest = given[front:]
        self.pick.shuffle(rest)
        return f"{kind}({', '.join([text for _, text in given[:front]] + [f'{field} = {text}' for field, text in rest])})", found

    def is_made(self, kind, changes):
        """Does the class give all fields values, so that a constructor need not?"""
        for field, inner, count, value, inside in self.classes[kind]:
            change = changes.get(field)
            if inner == "Real":
                if not value and change is None:
                    return False
            elif count or not self.is_made(inner, merged(inside, change or {})):
                return False
        return True

    def calling(self, number):
        """A function with a record that a constructor makes: a local, the default of an input, or an array."""
        kind = self.pick.choice(list(self.classes))
        form = self.pick.choice(["local", "input", "assign", "array"])
        names = [] if form == "input" else ["u"]
        text, values = self.construct(kind, "r", names, lambda name: 2.0)
        results = {path: value() for path, value in values.items()}
        if form == "array":
            other, more = self.construct(kind, "r[2]", names, lambda name: 2.0)
            results = {"r[1]" + path[1:]: value for path, value in results.items()} | {path: value() for path, value in more.items()}
        total, sums = 0.0, []
        for path, value in results.items():
            weight = self.pick.randint(1, 9)
            sums.append(f"{weight}*{path}")
            total += weight * value
        keep = "while y > 1e30 loop y := y/2; end while; " if self.pick.random() < 0.5 else ""
        name = f"f{number}"
        declaration = {"local": f"output Real y; protected {kind} r = {text};",
                       "input": f"input {kind} r = {text}; output Real y;",
                       "assign": f"output Real y; protected {kind} r;"}.get(form)
        if form == "array":
            declaration = f"output Real y; protected {kind} r[2] = {{{text}, {other}}};"
        first = f"r := {text}; " if form == "assign" else ""
        return f"function {name} input Real u; {declaration} algorithm {first}y := {' + '.join(sums)}; {keep}end {name};", name, total

    def function(self, number):
        """A function with a record as a local or output; (text, name, expected value of f(u) for u = 2)."""
        kind = self.pick.choice(list(self.classes))
        count = self.pick.choice([0, 0, 2])
        changes = self.modifications(kind, ["u"], 0.5, count)
        values, places = {}, [""] if not count else [f"[{i + 1}]" for i in range(count)]
        for i, place in enumerate(places):
            values.update(self.leaves(kind, f"r{place}", None, [(changes, lambda name: 2.0, i if count else None)]))
        statements, total, sums = "", 0.0, []
        known = {}
        for path, value in values.items():
            if value is None:
                known[path] = self.pick.randint(1, 9)
                statements += f"{path} := {known[path]}; "
        results = dict(known)
        for path, value in values.items():
            try:  # an expression of a field without a value has none, either
                results.setdefault(path, value and value())
            except TypeError:
                continue
        for path in results:
            weight = self.pick.randint(1, 9)
            sums.append(f"{weight}*{path}")
            total += weight * results[path]
        keep = "while y > 1e30 loop y := y/2; end while; " if self.pick.random() < 0.5 else ""
        size = f"[{count}]" if count else ""
        name = f"f{number}"
        if self.pick.random() < 0.5:
            text = (f"function {name} input Real u; output Real y; protected {kind} r{size}{self.modification_text(changes)}; "
                    f"algorithm {statements}y := {' + '.join(sums)}; {keep}end {name};")
        else:
            text = (f"function {name}r input Real u; output {kind} r{size}{self.modification_text(changes)}; protected Real y; "
                    f"algorithm {statements}y := u; {keep}end {name}r; "
                    f"function {name}s input {kind} r{size}; output Real y; algorithm y := {' + '.join(sums)}; {keep}end {name}s; "
                    f"function {name} input Real u; output Real y; algorithm y := {name}s({name}r(u)); end {name};")
        return text, name, total

    def model(self, functions=3):
        texts, names, expected = [], [], {}
        for number in range(functions):
            text, name, value = self.pick.choice([self.function, self.calling])(number)
            texts.append(text)
            expected[f"x{number}"] = value
            names.append(f"Real x{number} = {name}(1 + time);")
        return "package P\n  " + "\n  ".join(self.lines + texts) + "\n  model M " + " ".join(names) + " end M;\nend P;\n", expected


class Generated:
    """Models M0, M1, ... each with parameters, a base class and components of earlier ones; values by the rules."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.classes = []  # own parameters {name: value}, base (number, modifiers) or None, components {name: (class, modifiers)}
        for number in range(self.pick.randint(2, 5)):
            self.classes.append(self.make_class(number))

    def names(self, number):
        """Paths of all parameters of a class, inherited ones too."""
        own, base, components = self.classes[number]
        found = [(name,) for name in own]
        if base:
            found += self.names(base[0])
        for name, (kind, _) in components.items():
            found += [(name,) + path for path in self.names(kind)]
        return found

    def modifiers(self, number):
        paths = self.names(number)
        chosen = self.pick.sample(paths, self.pick.randint(0, min(3, len(paths))))
        return {path: self.pick.randint(10, 99) for path in chosen}

    def make_class(self, number):
        own = {f"p{number}_{i}": self.pick.randint(1, 9) for i in range(self.pick.randint(1, 3))}
        base, components = None, {}
        if number and self.pick.random() < 0.6:
            kind = self.pick.randrange(number)
            base = (kind, self.modifiers(kind))
        for i in range(self.pick.randint(0, 2) if number else 0):
            kind = self.pick.randrange(number)
            components[f"c{number}_{i}"] = (kind, self.modifiers(kind))
        return own, base, components

    def values(self, number, outer, prefix=()):
        """{path: value}, with the outer modifiers {path: value} applied."""
        own, base, components = self.classes[number]
        found = {prefix + (name,): outer.get((name,), value) for name, value in own.items()}
        if base:
            found.update(self.values(base[0], {**base[1], **outer}, prefix))
        for name, (kind, modifiers) in components.items():
            inner = dict(modifiers)
            inner.update({path[1:]: value for path, value in outer.items() if path[0] == name})
            found.update(self.values(kind, inner, prefix + (name,)))
        return found

    def nested(self, modifiers):
        """The modifiers as text, some with dots, some with parentheses."""
        parts = []
        for path, value in modifiers.items():
            if self.pick.random() < 0.5:
                parts.append(f"{'.'.join(path)} = {value}")
            else:
                parts.append("".join(name + "(" for name in path[:-1]) + f"{path[-1]} = {value}" + ")" * (len(path) - 1))
        return "(" + ", ".join(parts) + ")" if parts else ""

    def text(self):
        lines = []
        for number, (own, base, components) in enumerate(self.classes):
            lines.append(f"  model M{number}")
            if base:
                lines.append(f"    extends M{base[0]}{self.nested(base[1])};")
            lines += [f"    parameter Real {name} = {value};" for name, value in own.items()]
            lines += [f"    M{kind} {name}{self.nested(modifiers)};" for name, (kind, modifiers) in components.items()]
            lines += [f"    Real x{number}(start = 0, fixed = true);", "  equation", f"    der(x{number}) = {next(iter(own))};",
                      f"  end M{number};"]
        return "package P\n" + "\n".join(lines) + "\nend P;\n"


class Instances(unittest.TestCase):
    def check(self, text, **expected):
        found = final_values(text)
        for name, value in expected.items():
            name = name.replace("_2_", "[2]").replace("__", ".")
            self.assertIn(name, found, text)
            self.assertAlmostEqual(found[name], value, delta=1e-5 * max(1, abs(value)), msg=name)

    def test_generated_modifications(self):
        for seed in range(COUNT):
            model = Generated(seed)
            last = len(model.classes) - 1
            done = run(model.text(), "flatten", "--model", f"P.M{last}")
            self.assertEqual(done.returncode, 0, done.stderr + model.text())
            for path, value in model.values(last, {}).items():
                self.assertIn(f"'{'.'.join(path)}' = {value};", done.stdout, f"seed {seed}\n{model.text()}")

    def test_constants_in_functions_of_arrays(self):
        parts = ("model C constant Real k = {}; function f input Real u; output Real y; algorithm y := k*u; end f; Real x = f(3*time); end C;\n"
                 "model D C c[2]{}; end D;\n")
        pick = random.Random(11)
        for _ in range(6):
            k, other = pick.randint(1, 9), pick.randint(1, 9)
            self.check(parts.format(k, "") + "model M C c[3]; D d[2]; end M;", **{"c[3].x": 3 * k, "d[2].c[1].x": 3 * k})
            self.check(parts.format(k, f"(each k = {other})") + f"model M C c[3](each k = {other}); D d[2]; end M;",
                       **{"c[1].x": 3 * other, "d[1].c[2].x": 3 * other})

    def test_generated_values_of_records(self):
        """Arrays of records whose fields have open sizes and constants, by constructors, ifs, iterations and other records."""
        for seed in range(COUNT):
            rng = random.Random(seed)
            rows, count, chosen = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
            named = {name: ([rng.randint(1, 9) for _ in range(rows)], rng.randint(1, 9)) for name in ("p", "q")}
            text = "\n".join(f"  parameter R {name}(v = {{{', '.join(map(str, v))}}}, k = {k});" for name, (v, k) in named.items())

            def value(index):
                kind = rng.randrange(3)
                name = rng.choice("pq")
                if kind == 0:
                    return name, named[name]
                if kind == 1:
                    v, k = [rng.randint(1, 9) for _ in range(rows)], rng.randint(1, 9)
                    return f"R(v = {{{', '.join(map(str, v))}}}, k = {k})", (v, k)
                return f"if chosen > {index} then {name} else q", named[name] if chosen > index else named["q"]

            values = [value(i) for i in range(count)]
            array, expected = "{" + ", ".join(value for value, _ in values) + "}", [found for _, found in values]
            if rng.random() < 0.3:
                array = "{if i == chosen then p else q for i in 1:n}"
                expected = [named["p" if i + 1 == chosen else "q"] for i in range(count)]
            text = f"""package P
  record B constant String kind = "b"; end B;
  record R extends B(kind = "r"); parameter Real k = 1; parameter Real v[:] = {{k}}; final parameter Real w[:] = 2*v; end R;
  record Base parameter Integer n = 1; parameter Integer chosen = 1; replaceable parameter R p; replaceable parameter R q;
    replaceable parameter R all[n] = {array}; end Base;
  record Set extends Base(redeclare R p, redeclare R q, redeclare R all); end Set;
  model Part parameter R r; Real s = r.k*sum(r.v) + sum(r.w); end Part;
  model M
{text}
    parameter Set set(n = {count}, chosen = {chosen}, p = p, q = q);
    Part part[set.n](r = set.all);
  end M;
end P;
"""
            found = final_values(text, "--model", "P.M")
            for i, (v, k) in enumerate(expected):
                self.assertEqual(found[f"part[{i + 1}].s"], k * sum(v) + 2 * sum(v), text)

    def test_generated_fields_of_flat_models(self):
        """Values, attributes, variabilities and sizes that records give their fields also hold in models without components, in Modelica and in Base Modelica."""
        for seed in range(COUNT):
            rng = random.Random(1000 + seed)
            a, b, k, start, other, scale = (rng.randint(1, 9) for _ in range(6))
            size, count, most = rng.randint(1, 4), rng.randint(1, 3), rng.randint(10, 20)
            kind = rng.choice(["", "parameter "])
            alias = rng.random() < 0.5
            x = "T x" if alias else f"Real x(start = {start}, fixed = true)"
            text = f"""package P
  type T = Real(start = {start}, fixed = true);
  record R {kind}Real a(min = 0, max = {most}) = {a}; {kind}Integer k = {k}; end R;
  record Q R r[{count}]; R s(a = {other}); {kind}Real b = {b}; end Q;
  record V parameter Integer n = {size}; Real v[n] = fill({scale}.5, n); end V;
  record S {x}; Real y; end S;
  function g input Real z; output R r; algorithm r.a := z; end g;
  model M
    parameter R p; parameter R c(k = {other}); parameter Q q; parameter V v; parameter V u(n = 2); R w; S s; S t[{count}]; R h = g({b});
    Real y(start = 0, fixed = true), sizes, sums;
  equation
    s.y = s.x; der(s.x) = 0;
    for i in 1:{count} loop t[i].y = t[i].x; der(t[i].x) = i; end for;
    der(y) = p.a*p.k + c.a*c.k + q.r[{count}].a + q.s.a*q.b + w.a + h.a + h.k;
    sizes = size(v.v, 1); sums = sum(v.v) + sum(u.v);
  end M;
end P;
"""
            expected = {"y": a*k + a*other + a + other*b + a + b + k, "sizes": size, "sums": (scale + 0.5)*(size + 2), "s.y": start,
                        **{f"t[{i}].y": start + i for i in range(1, count + 1)}}
            for head in ("", "//! base 0.1.0\n"):
                found = final_values(head + text)
                for name, value in expected.items():
                    self.assertAlmostEqual(found[name], value, msg=(name, head + text))
                done = run(head + text, "simulate", "--quiet", "--override", f"q.r[1].a={most + 1}")
                self.assertEqual(done.returncode, 2, head + text)
                self.assertIn("above its max", done.stderr)

    def test_generated_elements_assigned_their_start_values(self):
        """An algorithm determines the elements and fields that it assigns, even if it assigns the values that they already
        have: start values, or zero. Others have equations."""
        for seed in range(COUNT):
            rng = random.Random(seed)
            start, size = rng.choice([0, 0, 2]), rng.randint(2, 4)
            attribute = f"(each start = {start})" if start else ""
            mine = sorted(rng.sample(range(1, size + 1), rng.randint(1, size - 1)))
            value = {i: rng.choice([start, start, 7]) for i in range(1, size + 1)}
            loop = rng.random() < 0.3
            if loop:
                mine = list(range(1, rng.randint(1, size) + 1))
                value = {i: value[1] if i in mine else value[i] for i in value}
            first = (f"for i in 1:{mine[-1]} loop v[i] := {value[1]}; end for;" if loop else
                     " ".join(f"v[{i}] := {value[i]};" for i in mine))
            rest = " ".join(f"v[{i}] = {value[i]} + time;" for i in value if i not in mine)
            text = f"""model M record Q Real x{f'(start = {start})' if start else ''}; Real y; Integer n; end Q;
              Real v[{size}]{attribute}; Q q; Q r[2]; parameter Integer k = 2; Real s;
              algorithm {first} s := sum(v[i] for i in {{{', '.join(map(str, mine))}}});
              algorithm q.x := {start}; q.y := q.x; q.n := 0; if time > 0.5 then q.y := q.y + 1; end if;
              algorithm r[k].x := {start}; r[1].x := 0; r.y := {{r[2].x, 3}}; r[1].n := 0; r[2].n := if r[1].y > 2.5 then 1 else 0;
              equation {rest} end M;"""
            expected = {f"v[{i}]": value[i] + (i not in mine) for i in value} | {
                "s": sum(value[i] for i in mine), "q.x": start, "q.y": start + 1, "q.n": 0, "r[2].x": start, "r[1].x": 0, "r[1].y": start,
                "r[2].y": 3, "r[2].n": 0}
            found = final_values(text)
            for name, number in expected.items():
                self.assertAlmostEqual(found[name], number, msg=(seed, name, text))

    def test_parameters_in_branches_that_exclude_each_other(self):
        pick = random.Random(5)
        for _ in range(COUNT):
            count = pick.randint(2, 5)
            names = [f"p{i}" for i in range(count)]
            choice = pick.randint(1, count)
            # One parameter, chosen by k, has its own value; the others follow from their neighbours in a ring.
            lines = [f"parameter Real p{i} = if k == {i + 1} then {i + 10} else p{(i + 1) % count} + 1;" for i in range(count)]
            pick.shuffle(lines)
            text = f"model M parameter Integer k = {choice}; {' '.join(lines)} Real s = {' + '.join(names)}; end M;"
            expected = sum(choice + 9 + (choice - 1 - i) % count for i in range(count))
            self.assertAlmostEqual(final_values(text)["s"], expected)

    def test_generated_records_in_functions(self):
        """Fields of records that functions declare, make and pass have the values of modifications, constructors and classes, in
        Modelica, in Base Modelica, and in the flattened text."""
        for seed in range(COUNT):
            text, expected = Records(seed).model()
            flat = run(text, "flatten")
            self.assertEqual(flat.returncode, 0, flat.stderr + text)
            base = [] if "extends" in text else ["//! base 0.1.0\n" + text]
            for form in [text, flat.stdout, *base]:
                found = final_values(form)
                for name, value in expected.items():
                    self.assertAlmostEqual(found[name], value, delta=1e-9 * max(1, abs(value)), msg=(seed, name, form))

    def test_generated_open_arrays_of_records(self):
        """Records with arrays of records of open size, given by short classes, modifications or constructors. They are passed on as
        a whole through records and components: plain, as an array, or with `each`. Components count their inflows, and arrays of components are counted, too."""
        for seed in range(COUNT):
            pick = random.Random(seed)
            layers = [[round(pick.uniform(1, 9), 2) for _ in range(pick.randint(1, 2))] for _ in range(pick.randint(1, 3))]
            layers = [[row[0], row[-1]][:len(layers[0])] for row in layers]  # all of one size, as a matrix
            rooms = pick.randint(1, 3)
            made = "{" + ", ".join(f"Layer(x = {k + 1}, w = {{{', '.join(map(str, row))}}})" for k, row in enumerate(layers)) + "}"
            given = pick.choice([f"record Given = Stack(layer = {made});", f"record Given = Stack(final layer = {made}, u = 5);",
                                 f"record Given extends Stack(layer = {made}); end Given;"])
            stack = pick.choice(["parameter Given g;", f"parameter Stack g(layer = {made});", f"parameter Stack g = Stack(layer = {made}, u = 2);"])
            passed, declared = pick.choice([("holder(each stack = g)", rooms), ("holder(stack = {" + ", ".join(["g"] * rooms) + "})", rooms)])
            text = (f"package P record Layer parameter Real x = 1; parameter Real w[:] = {{0.5}}; end Layer;\n"
                    f"record Stack parameter Layer layer[:]; parameter Real u = 2; end Stack;\n{given}\n"
                    f"record Holder parameter Stack stack; parameter Real a = 1; end Holder;\n"
                    f"model Wall parameter Stack stack; Real y[size(stack.layer, 1)]; equation for i in 1:size(stack.layer, 1) loop "
                    f"y[i] = stack.layer[i].x*sum(stack.layer[i].w)*time; end for; end Wall;\n"
                    f"model House parameter Integer n; parameter Holder holder[n]; Wall wall[n](stack = holder.stack); Real z = sum(wall.y);\n"
                    f"Integer count = size(wall, 1); Real each_z[size(wall, 1)] = {{sum(wall[i].y) for i in 1:size(wall, 1)}}; end House;\n"
                    f"model M {stack} House house(n = {declared}, {passed}); parameter Holder one(stack = g); Wall last(stack = one.stack); end M; end P;\n")
            values = [(k + 1) * sum(row) for k, row in enumerate(layers)]
            final = final_values(text, "--model", "P.M")
            self.assertAlmostEqual(final["house.z"], rooms * sum(values), 9, text)
            self.assertEqual(final["house.count"], rooms, text)
            for k in range(rooms):
                self.assertAlmostEqual(final[f"house.each_z[{k + 1}]"], sum(values), 9, text)
            for k, value in enumerate(values):
                self.assertAlmostEqual(final[f"last.y[{k + 1}]"], value, 9, text)

    def test_dimensions_that_components_do_not_have(self):
        for dimension in (0, 2, 7):
            done = run(f"model Z model A Real x = time; end A; A a[3]; Real y = size(a, {dimension}); end Z;", "check")
            self.assertEqual(done.returncode, 3, done.stderr)

    def test_generated_flows_in_buses(self):
        """Trees of components joined by buses. Each mechanical line of the bus has one source somewhere, and loads, or none,
        elsewhere. Components that do not use a line pass it on or end it; at an end its torque is zero. Lines may be declared in the bus, or exist only by connections."""
        for seed in range(COUNT):
            pick = random.Random(seed)
            lines, models, loads = [f"line{k}" for k in range(pick.randint(1, 3))], [], {}
            declared = " ".join(f"F {line};" for line in lines if pick.random() < 0.5)
            text = (f"package P connector F Real phi; flow Real tau; end F; expandable connector Empty end Empty;\nexpandable connector Bus {declared} end Bus;\n"
                    "model Source parameter Real k; F f; equation f.phi = k + time; end Source;\n"
                    "model Load parameter Real c; F f; equation f.tau = c*f.phi; end Load;\n")
            home = {line: pick.randrange(4) for line in lines}
            for number in range(4):
                parts, equations = [f"{pick.choice(['Bus', 'Empty'])} bus;"], []
                for k, line in enumerate(lines):
                    if home[line] == number:
                        parts.append(f"Source s{k}(k = {k + 1});")
                        equations.append(f"connect(s{k}.f, bus.{line});")
                    elif pick.random() < 0.4:
                        parts.append(f"Load l{k}(c = {number + 2});")
                        equations.append(f"connect(bus.{line}, l{k}.f);")
                        loads.setdefault(line, []).append(number + 2)
                below = [m for m in range(number) if m not in models and pick.random() < 0.5]
                for m in below:
                    models.append(m)
                    parts.append(f"M{m} m{m};")
                    equations.append(f"connect(m{m}.bus, bus);")
                text += f"model M{number} {' '.join(parts)} equation {' '.join(equations)} end M{number};\n"
            tops = [m for m in range(4) if m not in models]
            text += (f"model M {' '.join(f'M{m} m{m};' for m in tops)} Empty bus; equation {' '.join(f'connect(m{m}.bus, bus);' for m in tops)} end M; end P;\n")
            final = final_values(text, "--model", "P.M")
            for k, line in enumerate(lines):
                torques = [value for name, value in final.items() if name.endswith(f"s{k}.f.tau")]
                self.assertEqual(len(torques), 1, text)
                self.assertAlmostEqual(torques[0], -(k + 2) * sum(loads.get(line, [])), 9, text)

    def test_many_components(self):
        count = 200 if REDUCED else 10000
        text = f"""model A parameter Real k = 1; Real x(start = 1, fixed = true), y; equation der(x) = -k*x; y = 2*x; end A;
          model M A a[{count}]; end M;"""
        done = run(text, "check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{2 * count} equations", done.stderr)


if __name__ == "__main__":
    unittest.main()
