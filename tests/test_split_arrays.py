"""Arrays of components whose elements differ in their structure. In generated models, sizes, conditions, branches of ifs and records differ from element to element, at two levels. They give
the same values as models written with one scalar component for each element."""
import json
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
REDUCED = os.environ.get("BUILD_KIND") == "asan"
COUNT = int(os.environ.get("SPLIT_MODELS", "6" if REDUCED else "40"))

CLASSES = """
record Data
  parameter Integer n = 1;
  parameter Real g[n] = {0.1*i for i in 1:n};
  final parameter Real total = sum(g);
end Data;
connector Pin Real v; flow Real i; end Pin;
model Ground Pin p; equation p.v = 0; end Ground;
model Source parameter Real V = 1; Pin p; equation p.v = V + time; end Source;
model Resistor
  parameter Real R = 1;
  Pin p, n;
equation
  p.v - n.v = R*p.i;
  p.i + n.i = 0;
end Resistor;
model Leaf
  parameter Data data;
  parameter Integer kind = 1;
  parameter Boolean has_side = true;
  parameter Real k = 1;
  final parameter Integer n = data.n;
  Pin p, q;
  Resistor r[n](R = data.g) if n > 0;
  Resistor side(R = 2*k) if has_side;
  Real x[n](start = data.g, each fixed = true);
  Real s;
  function scaled input Real u; output Real y; algorithm y := c*u; end scaled;
  constant Real c = 1;
equation
  for i in 1:n loop
    der(x[i]) = -k*x[i] + (if i > 1 then x[max(1, i - 1)] else p.v);
    connect(r[i].p, p);
    connect(r[i].n, q);
  end for;
  if kind == 1 then
    s = sum(x) + data.total;
  elseif kind == 2 then
    s = scaled(p.v)*n;
  else
    s = k*time + q.i;
  end if;
  connect(p, side.p);
  connect(side.n, q);
end Leaf;
"""


class Leaf:
    """The modifications of one Leaf."""

    def __init__(self, pick):
        self.n = pick.randint(0, 3)
        self.side = self.n == 0 or pick.random() < 0.5  # else nothing connects p and q
        self.kind = pick.randint(1, 3)
        self.k = round(pick.uniform(0.5, 2), 3)
        self.g = [round(pick.uniform(0.5, 3), 3) for _ in range(self.n)] if pick.random() < 0.5 else None
        self.c = pick.choice([1, 2])

    def data(self):
        return f"Data(n = {self.n}{', g = {%s}' % ', '.join(map(str, self.g)) if self.g else ''})"

    def scalar(self, name):
        return (f"Leaf {name}(data = {self.data()}, kind = {self.kind}, has_side = {text(self.side)}, k = {self.k}, c = {self.c});")


def text(value):
    return str(value).lower()


def row(values):
    return "{%s}" % ", ".join(str(value) for value in values)


class Members:
    """Groups of leaves: as an array of arrays, and by hand."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.groups = [[Leaf(self.pick) for _ in range(self.pick.randint(1, 3))] for _ in range(self.pick.randint(2, 3))]
        if self.pick.random() < 0.5:  # sometimes only the leaves differ, not the groups
            self.groups = [[self.pick.choice(group) for _ in self.groups[0]] for group in self.groups]
        self.loops = self.pick.random() < 0.5
        self.records = self.pick.random() < 0.5  # the records are variables, not constructors

    def values(self, get):
        return row(row(get(leaf) for leaf in group) for group in self.groups)

    def sums(self, name):
        """Equations that name elements of both forms: name(i, j) is leaf j of group i."""
        pairs = [(i, j) for i, group in enumerate(self.groups, 1) for j, _ in enumerate(group, 1)]
        lines = [f"first = {name(1, 1)}.s;"]
        lines.append("largest = " + " + ".join(f"{name(i, j)}.x[end]" for i, j in pairs if self.groups[i - 1][j - 1].n) + " + time;")
        return pairs, lines

    def by_hand(self):
        pairs, lines = self.sums("l{}_{}".format)
        leaves = [self.groups[i - 1][j - 1].scalar(f"l{i}_{j}") for i, j in pairs]
        for i, j in pairs:
            lines += [f"connect(source{i}_{j}.p, l{i}_{j}.p);", f"connect(l{i}_{j}.q, ground{i}_{j}.p);"]
        parts = leaves + [f"Source source{i}_{j}(V = {i + j}); Ground ground{i}_{j};" for i, j in pairs]
        return self.model("M", parts, [*lines, "total = %s;" % " + ".join(f"{i}*l{i}_{j}.s" for i, j in pairs)])

    def as_arrays(self):
        widths = [len(group) for group in self.groups]
        count = len(self.groups)
        _, lines = self.sums("g[{}].l[{}]".format)
        pad = max(widths)

        def padded(get, rest):  # the modifiers of groups with few leaves have more elements than they use
            return row(row([str(get(leaf)) for leaf in group] + [rest] * (pad - len(group))) for group in self.groups)

        head = f"""model Group
          constant Integer m = 1; parameter Integer number = 1;
          parameter Integer kinds[{pad}], ns[{pad}];
          parameter Boolean sides[{pad}];
          parameter Real ks[{pad}];
          constant Integer cs[{pad}] = fill(1, {pad});
          parameter Real gs[{pad},3];
          parameter Data records[m](n = ns[1:m], g = {{gs[j,1:ns[j]] for j in 1:m}});
          Leaf l[m](data = {'records' if self.records else '{Data(n = ns[j], g = gs[j,1:ns[j]]) for j in 1:m}'}, kind = kinds[1:m], has_side = sides[1:m], k = ks[1:m], c = cs[1:m]);
          Source source[m](V = {{number + j for j in 1:m}});
          Ground ground[m];
          Real s;
        equation
          {'for j in 1:m loop connect(source[j].p, l[j].p); end for;' if self.loops else 'connect(source.p, l.p);'}
          {'for j in 1:m loop connect(l[j].q, ground[j].p); end for;' if self.loops else 'connect(l.q, ground.p);'}
          {'s = sum(l.s);' if self.loops else 's = sum(l[j].s for j in 1:m);'}
        end Group;
        """
        numbers = lambda leaf: row((leaf.g or [round(0.1 * i, 3) for i in range(1, leaf.n + 1)]) + [1] * (3 - leaf.n))
        group = (f"Group g[{count}](m = {row(widths)}, number = 1:{count}, kinds = {padded(lambda leaf: leaf.kind, '1')}, "
                 f"ns = {padded(lambda leaf: leaf.n, '1')}, sides = {padded(lambda leaf: text(leaf.side), 'true')}, ks = {padded(lambda leaf: leaf.k, '1')}, "
                 f"cs = {padded(lambda leaf: leaf.c, '1')}, gs = {padded(numbers, '{1, 1, 1}')});")
        total = f"total = sum(i*g[i].s for i in 1:{count});" if self.loops else f"total = (1:{count})*g.s;"
        return head + self.model("M", [group], [*lines, total])

    @staticmethod
    def model(name, parts, lines):
        return f"model {name} Real total, first, largest; {' '.join(parts)}\nequation\n  " + "\n  ".join(lines) + f"\nend {name};\n"

    def names(self):
        """Names of the leaves' variables in both models."""
        for i, group in enumerate(self.groups, 1):
            for j, leaf in enumerate(group, 1):
                for part in ["s", "p.v", "p.i", "q.i", *(f"x[{k + 1}]" for k in range(leaf.n)), *(f"r[{k + 1}].p.i" for k in range(leaf.n)),
                             *(["side.p.i"] if leaf.side else [])]:
                    yield f"g[{i}].l[{j}].{part}", f"l{i}_{j}.{part}"


def run(model, command, *arguments):
    path = os.path.join(WORK, "m.mo")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CLASSES + model)
    return subprocess.run([DAEDAL, command, path, *arguments], capture_output=True, text=True, cwd=WORK)


def final_values(model, *arguments):
    done = run(model, "simulate", "--quiet", "--output-file", "out.csv", "--json", "out.json", "--stop-time", "1", "--tolerance", "1e-9", *arguments)
    if done.returncode:
        raise AssertionError(done.stderr + model)
    with open(os.path.join(WORK, "out.json"), encoding="utf-8") as file:
        return json.load(file)["final"]


class Split(unittest.TestCase):
    def test_generated(self):
        for seed in range(COUNT):
            members = Members(seed)
            arrays, by_hand = final_values(members.as_arrays()), final_values(members.by_hand())
            for one, other in [("total", "total"), ("first", "first"), ("largest", "largest"), *members.names()]:
                self.assertAlmostEqual(arrays[one], by_hand[other], 6, f"seed {seed}: {one}\n{members.as_arrays()}{members.by_hand()}")

    PAIR = """model Part parameter Integer n = 1; parameter Boolean has = true; Real x[n] = {i*time for i in 1:n}; Real y = sum(x); Real z = 2*y if has; end Part;
    model M Part a[2](n = {1, 2}, has = {true, false}); %s end M;"""

    def test_shapes_that_fit(self):
        for line, value in [("Real t[2] = {sum(a[i].x) for i in 1:2};", 3), ("Real t[1] = a[2:2].x[2];", 2), ("Real t[1] = {sum(a[end].x)};", 3),
                            ("Real t[1] = {sum(sum(a[i].x[j] for j in 1:a[i].n) for i in 1:2)};", 4), ("Real t[2] = a.y;", 3),
                            ("Integer k = if time > 0.5 then 2 else 1; Real t[1] = {a[k].y};", 3), ("Real t[1] = {size(a, 1)};", 2),
                            ("Real t[2]; equation for i in 1:2 loop t[i] = a[i].x[i]; end for;", 2),
                            ("Real t[2]; equation for i in 1:2 loop t[i] = if i == 2 then 5 else a[i + 1].y; end for;", 5), ("Real t[1] = {sum(a[1:0].y) + 1};", 1)]:
            final = final_values(self.PAIR % line)
            self.assertAlmostEqual([final[name] for name in final if name.startswith("t[")][-1], value, 7, line)

    def test_messages(self):
        for line, message in [("Real t[2,2] = a.x;", "elements of an array differ in size: [1] and [2]"), ("Real t = sum(a.x);", "elements of an array differ in size"),
                              ("Real t[2] = a.z;", "`a[2].z` does not exist here"), ("Real t = a[3].y;", "subscript 3 is out of range: dimension 1 has size 2"),
                              ("Real t = a[1,1].y;", "`a` has 1 dimension and is used with 2 subscripts")]:
            done = run(self.PAIR % line, "check")
            self.assertEqual((done.returncode, message in done.stderr), (3, True), done.stderr)

    def test_override_of_one_element(self):
        """An element that gets a structure of its own from outside."""
        model = "model Part parameter Integer n = 1; Real x[n] = {i*time for i in 1:n}; end Part; model M Part a[2]; Real t = a[2].x[1]; end M;"
        self.assertNotIn("a[1].x[2]", final_values(model))
        self.assertAlmostEqual(final_values(model, "--override", "a[1].n=3")["a[1].x[3]"], 3, 7)

    def test_equal_elements_stay_an_array(self):
        """Elements that are equal are instantiated once: 2000 of them take little more than 20."""
        model = "model Part parameter Integer n = 3; parameter Real k = 1; Real x[n] = {k*i*time for i in 1:n}; end Part; model M Part a[%d](k = 1:%d); end M;"
        done = run(model % (2000, 2000), "check", "--limits", "memory=200M")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
