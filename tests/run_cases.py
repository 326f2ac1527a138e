#!/usr/bin/env python3
"""Runs test cases: models and netlists whose comments state the expected results. tests/README.md describes these comments.

    run_cases.py [--perturb] [FOLDER or FILE...]     relative to tests/cases; all of them by default

With --perturb every expectation is also checked in a form that is wrong, and must fail in that form.
A failure names the file and line of the expectation. The last line is "N passed, N failed"; a file counts as one."""
import ast
import csv
import itertools
import json
import keyword
import math
import operator
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent)) / "tests" / "cases"
DAEDAL = os.environ.get("DAEDAL", str(ROOT.parent.parent / "build" / "daedal"))
REPORTING = ("simulate", "init", "analyze", "reduce", "compare", "steady", "linearize")  # commands with --json FILE
DIRECTIVE = re.compile(r"\s*(?://|\*) (run|change|reference|let|expect): ?(.*?)\s*$")
ERROR = re.compile(r"(.*?):(\d+):(\d+): error: (.*)")


class Wrong(Exception):
    """An error in a case."""


# ---- reading a case ----

class Group:
    """A `run:` line with the lines that belong to it, each as (line number, text)."""

    def __init__(self, line, run):
        self.line, self.run, self.changes, self.reference, self.expectations = line, run, [], None, []


def read_case(path):
    """The text of a case, its groups, and the definitions by `let:` that hold for all of them."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    groups, definitions = [], {}
    for number, line in enumerate(text.split("\n"), 1):
        found = DIRECTIVE.match(line)
        if not found:
            continue
        kind, rest = found.groups()
        if kind == "let":
            name, parameters, value = re.fullmatch(r"(\w+)(?:\((.*?)\))? = (.*)", rest).groups()
            definitions[name] = ([word.strip() for word in parameters.split(",")] if parameters else None, parse(value, number))
            continue
        if kind == "run" or not groups:
            groups.append(Group(number, rest if kind == "run" else "simulate"))
        if kind == "change":
            groups[-1].changes.append((number, rest))
        elif kind == "reference":
            groups[-1].reference = (number, rest)
        elif kind == "expect":
            groups[-1].expectations.append((number, rest))
    if not any(group.expectations for group in groups):
        raise Wrong(f"{path}: has no expectations")
    return text, groups, definitions


def variants_of(group):
    """(command line, [(line, old, new)]) for each run of a group: every combination of alternatives."""
    words = shlex.split(group.run)
    choices = [word[1:-1].split(",") if re.fullmatch(r"\{.*\}", word) else [word] for word in words]
    changes = []
    for line, change in group.changes:
        old, arrow, new = change.partition(" -> ")
        if not arrow:
            raise Wrong(f"{line}: a change is OLD -> NEW")
        changes.append([(line, old, one) for one in new.split(" | ")])
    for chosen in itertools.product(*choices):
        chosen = [word for word in chosen if word]
        if not any(solver not in solvers() for solver in options_of(chosen, "--solver")):
            for changed in itertools.product(*changes):
                yield chosen, list(changed)


def options_of(words, name):
    return [after for word, after in zip(words, words[1:]) if word == name]


def solvers(found=[]):
    """The solvers of this build: some need SUNDIALS."""
    if not found:
        words = subprocess.run([DAEDAL, "simulate", "--help"], capture_output=True, text=True, check=True).stdout
        found += ["auto", *re.search(r"integrator: (.*)", words).group(1).split(", ")]
    return found


# ---- running ----

def changed(text, place, old, new):
    """The text with `new` in place of `old`, except in our own comments."""
    lines = text.split("\n")
    if not any(old in line and not DIRECTIVE.match(line) for line in lines):
        raise Wrong(f"{place}: the text to change is not there: {old}")
    return "\n".join(line if DIRECTIVE.match(line) else line.replace(old, new) for line in lines)


class Run:
    """One command line on one text: status, output, columns, report."""

    def __init__(self, words, path, text, changes, work):
        for line, old, new in changes:
            text = changed(text, line, old, new)
        if changes:
            path = work / path.name
            path.write_text(text)
        self.path, self.option = path, {}
        stages = [[]]
        for word in words:
            stages.append([]) if word == "|" else stages[-1].append(word)
        for number, stage in enumerate(stages):
            if number:
                self.path = work / f"stage{number}.mo"
                self.path.write_text(self.stdout)
            self.start(stage, work)
            if self.status and number + 1 < len(stages):
                break
        self.words = " ".join(words) + "".join(f" ({new})" for _, _, new in changes)

    def start(self, words, work):
        command, options = words[0], words[1:]
        table, report = work / "out.csv", work / "out.json"
        for file in (table, report):
            file.unlink(missing_ok=True)
        if command == "simulate" and "--output-file" not in options:
            options = [*options, "--output-file", str(table)]
        if command in REPORTING and "--json" not in options:
            options = [*options, "--json", str(report)]
        done = subprocess.run([DAEDAL, command, str(self.path), *options], capture_output=True, cwd=work)
        self.command, self.status = command, done.returncode
        self.stdout, self.stderr = (bytes.decode(errors="replace") for bytes in (done.stdout, done.stderr))
        self.option = {name[2:].replace("-", "_"): value for name, value in zip(words, words[1:]) if name.startswith("--")}
        self.report = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
        self.rows = []
        self.names = {}
        if table.exists():
            with open(table, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            self.names = {name.replace(" ", ""): k for k, name in enumerate(rows[0])}
            self.rows = [list(map(float, row)) for row in rows[1:]]
        elif command == "init" and self.report and self.report.get("values"):
            entries = [entry for entry in self.report["values"] if entry["value"] is not None]
            self.names = {entry["name"].replace(" ", ""): k for k, entry in enumerate(entries)}
            self.rows = [[entry["value"] for entry in entries]]


    def repeated_times(self):
        """The number of rows with the same time as the row before: an event has a row before it and a row after it."""
        times = [row[self.names["time"]] for row in self.rows] if "time" in self.names else []
        return sum(a == b for a, b in zip(times, times[1:]))


# ---- expressions ----

FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log",
                                                    "log10", "sqrt", "floor", "ceil", "factorial", "hypot")}
FUNCTIONS |= {"abs": abs, "min": min, "max": max, "sum": sum, "size": len, "sorted": sorted, "round": round, "begins": str.startswith, "occurrences": str.count, "matches": lambda text, pattern: bool(re.search(pattern, text)), "range": range,
              "sign": lambda x: (x > 0) - (x < 0), "integer": lambda x: math.floor(x)}
MARK, KEYWORDS = "__", set(keyword.kwlist) - {"and", "or", "not", "in", "if", "else", "for"}
CONSTANTS = {"pi": math.pi, "true": True, "false": False, "null": None}
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
             ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
             ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.USub: operator.neg, ast.UAdd: operator.pos,
             ast.Not: operator.not_}


def parse(text, line):
    """Parses an expression; ^ is the power, and Python's keywords are names. Text in quotes stays as it is."""
    text = re.sub(r'"[^"]*"|\^|\b(?:' + "|".join(KEYWORDS) + r")\b", lambda found: {"^": "**"}.get(found[0], found[0] + (
        MARK if found[0] in KEYWORDS else "")), text.strip())
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise Wrong(f"{line}: no expression: {text} ({error.msg})") from None


class Scope:
    """Values of expressions at a row of a run."""

    def __init__(self, run, definitions, reference=None):
        self.run, self.definitions, self.reference, self.row, self.local, self.kept = run, definitions, reference, -1, {}, {}

    def at(self, row):
        self.row = row
        if self.reference:
            self.reference.row = row
        return self

    def value(self, node):
        """Names come first, because x, x[2], a.b[1].c and der(x) may all be columns."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            name = ast.unparse(node).replace(" ", "").replace(MARK, "")
            if name in self.local:
                return self.local[name]
            if name in self.run.names and self.run.rows:
                return self.run.rows[self.row][self.run.names[name]]
        return getattr(self, type(node).__name__, self.unknown)(node)

    def unknown(self, node):
        raise Wrong(f"cannot evaluate {ast.unparse(node)}")

    def Constant(self, node):
        return node.value

    def Name(self, node):
        name = node.id
        if name in self.definitions and self.definitions[name][0] is None:
            return self.value(self.definitions[name][1])
        known = {**CONSTANTS, "rows": len(self.run.rows), "repeated_times": self.run.repeated_times(), "status": self.run.status,
                 "stdout": self.run.stdout, "stderr": self.run.stderr}
        if name not in known:
            raise Wrong(f"there is no {name}")
        return known[name]

    def Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "option":
            value = self.run.option[node.attr]
            return float(value) if re.fullmatch(r"[-+.\deE]*\d", value) else value
        root = ast.unparse(node).partition(".")
        if root[0] == "reference":
            if not self.reference:
                raise Wrong("there is no reference: line")
            return self.reference.value(ast.parse(root[2], mode="eval").body)
        if isinstance(node.value, ast.Name) and node.value.id == "report":
            return self.field(self.run.report, node.attr)
        return self.field(self.value(node.value), node.attr)

    def field(self, of, name):
        return [self.field(one, name) for one in of] if isinstance(of, list) else of[name]

    def Subscript(self, node):
        if ast.unparse(node.value).startswith("reference."):
            return self.reference.value(ast.parse(ast.unparse(node).partition(".")[2], mode="eval").body)
        of, key = self.value(node.value), self.value(node.slice)
        if isinstance(of, list) and isinstance(key, str):
            return next(one for one in of if one["name"] == key)
        return of[key]

    def List(self, node):
        return [self.value(one) for one in node.elts]

    def GeneratorExp(self, node):
        """Sums and similar functions over a range: one loop, without conditions."""
        loop, found = node.generators[0], []
        for value in self.value(loop.iter):
            self.local[loop.target.id] = value
            found.append(self.value(node.elt))
        del self.local[loop.target.id]
        return found

    ListComp = GeneratorExp

    def UnaryOp(self, node):
        return OPERATORS[type(node.op)](self.value(node.operand))

    def BinOp(self, node):
        return OPERATORS[type(node.op)](self.value(node.left), self.value(node.right))

    def BoolOp(self, node):
        values = (self.value(one) for one in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def Compare(self, node):
        values = [self.value(node.left)] + [self.value(one) for one in node.comparators]
        return all(OPERATORS[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))

    def IfExp(self, node):
        return self.value(node.body if self.value(node.test) else node.orelse)

    def Call(self, node):
        name = ast.unparse(node.func)
        if name.startswith("reference."):
            return self.reference.value(ast.parse(ast.unparse(node).partition(".")[2], mode="eval").body)
        if name in ("first", "largest", "smallest", "count"):
            return self.over_rows(name, node.args[0])
        arguments = [self.value(one) for one in node.args]
        if name == "column":
            return self.run.rows[self.row][self.run.names[arguments[0].replace(" ", "")]]
        if name in self.definitions and self.definitions[name][0]:
            parameters, body = self.definitions[name]
            kept, self.local = self.local, {**self.local, **dict(zip(parameters, arguments))}
            value = self.value(body)
            self.local = kept
            return value
        if name not in FUNCTIONS:
            raise Wrong(f"there is no function {name}")
        return FUNCTIONS[name](*arguments)

    def over_rows(self, name, node):
        """The value of a function over all rows, which is computed once."""
        key, row = (name, ast.dump(node)), self.row
        if key not in self.kept:
            values = [self.at(k).value(node) for k in ([0] if name == "first" else range(len(self.run.rows)))]
            self.kept[key] = {"first": lambda: values[0], "largest": lambda: max(values), "smallest": lambda: min(values),
                              "count": lambda: sum(map(bool, values))}[name]()
            self.at(row)
        return self.kept[key]


# ---- expectations ----

def row_at(run, time):
    column = run.names["time"]
    rows = [k for k, row in enumerate(run.rows) if row[column] <= time + 1e-9 * (1 + abs(time))]
    if not rows:
        raise Wrong(f"no row up to time {time}")
    return rows[-1]


def contains(text, wanted):
    return bool(re.search(wanted[1:-1], text)) if len(wanted) > 2 and wanted[0] == wanted[-1] == "/" else wanted in text


class Relation:
    """`A = B within T`, or a condition, at one row or at many rows. A perturbed one is off by more than it allows, or negated."""

    def __init__(self, text, line, perturbed):
        self.perturbed, quoted = perturbed, re.findall(r'"[^"]*"', text)
        text = re.sub(r'"[^"]*"', "\x01", text)  # words in quotes are not keywords
        back = lambda part: re.sub("\x01", lambda _: quoted.pop(0), part)
        text, _, where = text.partition(" where ")
        found = re.fullmatch(r"(.*) everywhere", text)
        text, where = (found[1], "true") if found else (text, where)
        found = re.fullmatch(r"(.*) at (.+)", text)
        self.place = None if not found else "start" if found[2] == "start" else parse(found[2], line)
        text = found[1] if found else text
        text, _, within = text.partition(" within ")
        sides = re.split(r"(?<![<>=!])=(?!=)", text)
        self.sides = [parse(back(side), line) for side in sides]
        self.within, self.where = parse(back(within), line) if within else None, parse(back(where), line) if where else None
        if len(sides) > 2 or within and len(sides) != 2:
            raise Wrong(f"{line}: not A = B within T: {text}")

    def rows(self, scope):
        if self.where:
            chosen = [k for k in range(len(scope.run.rows)) if scope.at(k).value(self.where)]
            if not chosen:
                raise Wrong("no row is meant")
            return chosen
        if self.place:
            return [0 if self.place == "start" else row_at(scope.run, scope.at(-1).value(self.place))]
        return [-1]

    def failure(self, scope):
        chosen = self.rows(scope)
        if self.perturbed and len(self.sides) == 1:
            return None if not all(self.holds(scope.at(row)) for row in chosen) else "it is so"
        for row in chosen:
            if not self.holds(scope.at(row)):
                place = f" at time {scope.run.rows[row][scope.run.names['time']]!r}" if self.where or self.place else ""
                return "is " + ", ".join(self.show(scope.at(row), side) for side in self.sides) + place
        return None

    def show(self, scope, side):
        parts = [side.left, *side.comparators] if isinstance(side, ast.Compare) else [side]
        return " and ".join(repr(scope.value(part)) for part in parts)

    def holds(self, scope):
        values = [scope.value(side) for side in self.sides]
        if len(values) == 1:
            return bool(values[0])
        if not self.within:
            if self.perturbed:
                values[1] = [values[1]] if not isinstance(values[1], (int, float)) else values[1] + 1
            return values[0] == values[1]
        within = scope.value(self.within)
        off = 2.1 * within + 1e-14 * (1 + abs(values[1])) if self.perturbed else 0
        return abs(values[0] - values[1] - off) <= within


class Checks:
    """The expectations of a group for one of its runs."""

    def __init__(self, case, group, run, scope, perturbed):
        self.case, self.group, self.run, self.scope, self.perturbed = case, group, run, scope, perturbed
        self.errors = [(int(found[2]), int(found[3]), found[4]) for found in map(ERROR.match, run.stderr.splitlines())
                       if found and pathlib.Path(found[1]).name == run.path.name]
        self.matched, self.count = set(), 0

    def failures(self):
        """(line, words) of each expectation that is not met."""
        statuses, placed = False, False
        for line, text in self.group.expectations:
            statuses |= text.startswith("exit ")
            placed |= bool(re.match(r"\d+:", text))
            self.count += 1
            try:
                failure = self.failure(text, line)
            except (Wrong, ArithmeticError, LookupError, TypeError, ValueError) as error:
                failure = f"{type(error).__name__ if not isinstance(error, Wrong) else ''} {error}".strip()
                if self.perturbed:
                    failure = None if str(error).startswith(f"{line}: ") else failure
            if bool(failure) != self.perturbed:
                yield line, f"{text}: {failure or 'also holds if it is perturbed'}"
        if self.perturbed:
            return
        if not statuses:
            self.count += 1
            if self.run.status:
                yield self.group.line, f"exit {self.run.status}, expected 0"
        if placed:
            yield from self.drawings()
        if self.run.command == "flatten" and not self.run.status:
            yield from self.reads_back()

    def failure(self, text, line):
        kind, _, rest = text.partition(" ")
        off = "\x1a" if self.perturbed else ""
        if kind == "exit":
            allowed = [int(word) + 100 * self.perturbed for word in rest.split(" or ")]
            return None if self.run.status in allowed else f"exit {self.run.status}"
        if kind in ("says", "prints"):
            where = self.run.stderr if kind == "says" else self.run.stdout
            if rest == "nothing":
                return None if (not where) != self.perturbed else "is not so"
            return None if contains(where, rest if not off else off) else "is not there"
        if kind == "never":
            kind, _, rest = rest.partition(" ")
            return None if contains(self.run.stderr if kind == "says" else self.run.stdout, rest) == self.perturbed else "is there"
        if kind == "line":
            lines = [one.strip() for one in self.run.stdout.split("\n")]
            return None if rest + off in lines else "no such line"
        found = re.match(r"(\d+):(?:(\d+):)? ?(.*)", text)
        if found:
            return self.error_at(int(found[1]), found[2] and int(found[2]), found[3] + off)
        return Relation(text, line, self.perturbed).failure(self.scope)

    def error_at(self, line, column, words):
        hits = [k for k, error in enumerate(self.errors) if error[0] == line and column in (None, error[1]) and words in error[2]]
        self.matched.update(hits)
        return None if hits else "no such error"

    def drawings(self):
        """Every error is expected, and shows its line with a caret below."""
        lines, source = self.run.stderr.splitlines(), self.case.text.split("\n")
        shown = [lines[k + 1:k + 3] for k, line in enumerate(lines) if (found := ERROR.match(line)) and pathlib.Path(found[1]).name == self.run.path.name]
        for k, (line, column, message) in enumerate(self.errors):
            self.count += 2
            if k not in self.matched:
                yield self.group.line, f"not expected: {line}:{column}: {message}"
            drawn = shown[k]
            if len(drawn) < 2 or "^" not in drawn[1]:
                yield self.group.line, f"{line}:{column}: no line with a caret"
            elif plain(source[line - 1] if line <= len(source) else "")[:10] not in plain(drawn[0]):
                yield self.group.line, f"{line}:{column}: shows {drawn[0]!r}"

    def reads_back(self):
        """The flat text, read again, is the same flat text."""
        self.count += 1
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "flat.bmo"
            path.write_text(self.run.stdout)
            again = Run(["flatten"], path, "", [], pathlib.Path(folder))
        if again.status or again.stdout != self.run.stdout:
            yield self.group.line, f"the flat form, read again, differs: exit {again.status} {again.stderr}"


def plain(text):
    """The comparable part of a line: up to a NUL, with characters outside of ASCII as question marks."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in text.split("\0")[0]).strip()


class Case:
    def __init__(self, path):
        self.path, self.count = path, 0
        self.text, self.groups, self.definitions = read_case(path)

    def failures(self, work, is_perturbing):
        for group in self.groups:
            reference = None
            if group.reference:
                reference = Scope(self.reference(group, work), self.definitions)
            for words, changes in variants_of(group):
                run = Run(words, self.path, self.text, changes, work)
                scope = Scope(run, self.definitions, reference)
                for perturbed in [False, True][:1 + is_perturbing]:
                    checks = Checks(self, group, run, scope, perturbed)
                    for line, failure in checks.failures():
                        yield f"{self.path}:{line}: {failure}\n    {run.words}: exit {run.status}\n" + "".join(
                            f"    {said}\n" for said in run.stderr.splitlines()[:8])
                    self.count += 0 if perturbed else checks.count

    def reference(self, group, work):
        """A run to compare with: of this file, or of another one next to it."""
        line, text = group.reference
        words = shlex.split(text)
        path = self.path
        if words[0].endswith((".mo", ".cir")):
            path = self.path.parent / words.pop(0)
        run = Run(words, path, "", [], work)
        if run.status:
            raise Wrong(f"{line}: the reference fails: {run.stderr}")
        return run


def run_case(path, is_perturbing):
    """Failures of a case, and how many expectations were checked."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = Case(path)
            failures = list(case.failures(pathlib.Path(folder), is_perturbing))
        except Wrong as error:
            return [f"{path}: {error}"], 0
        return failures, case.count


def main():
    words = [word for word in sys.argv[1:] if word != "--perturb"]
    chosen = [ROOT / word for word in words] or [ROOT]
    paths = [path for place in chosen for path in (sorted(place.rglob("*.mo")) + sorted(place.rglob("*.cir")) if place.is_dir() else [place])]
    paths = [path for path in paths if path.parent.name != "files"]
    failed = checked = 0
    for path in paths:
        failures, count = run_case(path, "--perturb" in sys.argv)
        failed, checked = failed + bool(failures), checked + count
        for failure in failures:
            print(failure)
    print(f"{checked} expectations were checked")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
