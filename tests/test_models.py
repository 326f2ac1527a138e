"""The analysis of models in another form: each of cases/papers and of examples/ is analysed with its equations and declarations in
another order and under other names. Nothing but the names may change. The text is split at semicolons, so these files contain only
declarations and plain equations."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
ROUNDS = 4

# The test set's figures (its reference.json). The transistor amplifier really has 5, which no structural analysis can see, and 8 by
# structure.
TEST_SET = {
    "caraxis": dict(equations=14, structural_index=3, dof=4),
    "andrews": dict(equations=41, structural_index=3, dof=2),
    "transamp": dict(equations=11, structural_index=1, dof=8),
    "chemakzo": dict(equations=12, structural_index=1, dof=5),
    "water": dict(equations=71, structural_index=2, dof=9),
    "wheelset": dict(equations=68, structural_index=3, dof=7),
}


def analyze(path):
    """Exit status, report, text for people, standard error."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        run = subprocess.run([DAEDAL, "analyze", path, "--json", report.name], capture_output=True, text=True)
        text = pathlib.Path(report.name).read_text()
    return run.returncode, json.loads(text) if text else None, run.stdout, run.stderr



# ---- renaming and permuting ----

def blank(found):
    return re.sub(r"[^\n]", " ", found[0])


def statements_of(text, line):
    """(line, statement) for each piece that ends with a semicolon; the first line of the text is `line`."""
    for piece in text.split(";"):
        begin = line + piece[:len(piece) - len(piece.lstrip())].count("\n")
        line += piece.count("\n")
        if piece.strip():
            yield begin, piece.strip()


def components_of(statement):
    """One declaration for each component: `Real a, b(start = 1)` gives two."""
    prefix, rest = re.match(r"((?:parameter )?Real )(.*)", statement, re.S).groups()
    depth, pieces = 0, [""]
    for letter in rest:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [prefix + piece.strip() for piece in pieces]


def name_of(declaration):
    return re.match(r"(?:parameter )?Real (\w+)", declaration)[1]


class Text:
    """A flat model in parts: declarations, equations with the line where they begin, initial equations."""

    def __init__(self, text):
        bare = re.sub(r"//.*", blank, text)
        bare = re.sub(r'(= )?"(?:[^"\\]|\\.)*"', lambda found: found[0] if found[1] else blank(found), bare)
        self.name = re.match(r"\s*model (\w+)", bare)[1]
        bare = re.sub(r"^\s*model \w+", blank, bare)
        self.parts = {"declarations": [], "equation": [], "initial equation": []}
        self.annotation, section, line = "", "declarations", 1
        for piece in re.split(r"^(initial equation|equation)$", bare, flags=re.M):
            if piece in self.parts:
                section = piece
                continue
            for begin, statement in statements_of(piece, line):
                if statement.startswith("annotation"):
                    self.annotation = statement
                elif section == "declarations":
                    self.parts[section] += [(begin, component) for component in components_of(statement)]
                elif not re.match(r"end\b", statement):
                    self.parts[section].append((begin, statement))
            line += piece.count("\n")
        self.names = [name_of(statement) for _, statement in self.parts["declarations"]]
        self.unknowns = [name_of(statement) for _, statement in self.parts["declarations"]
                         if not statement.startswith("parameter")]

    def shuffled(self, seed):
        """The text in another order under other names, and the maps back."""
        chance = random.Random(seed)
        order = {section: chance.sample(range(len(part)), len(part)) for section, part in self.parts.items()}
        fresh = chance.sample(range(10**6, 10**7), len(self.names))
        new = {name: chance.choice("abkmwxyz") + str(number) for name, number in zip(self.names, fresh)}
        pattern = re.compile(r"(?<![\w.])(%s)\b" % "|".join(sorted(map(re.escape, new), key=len, reverse=True)))

        def statements(section):
            return "".join(f"  {pattern.sub(lambda found: new[found[0]], self.parts[section][k][1])};\n"
                           for k in order[section])

        text = f"model {self.name}\n{statements('declarations')}equation\n{statements('equation')}"
        if self.parts["initial equation"]:
            text += f"initial equation\n{statements('initial equation')}"
        text += (f"  {self.annotation};\n" if self.annotation else "") + f"end {self.name};\n"
        declared = [name_of(self.parts["declarations"][k][1]) for k in order["declarations"]]
        unknown_order = [self.unknowns.index(name) for name in declared if name in self.unknowns]
        return text, order["equation"], unknown_order, {value: key for key, value in new.items()}


def canonical(report, equations, variables, names):
    """The facts that must stay the same, with the numbers of the original: equation k here is equations[k] there, and so on."""
    def back(text):
        return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), text)

    def place(offsets, order):
        return [value for _, value in sorted(zip(order, offsets))]

    initial = report["initial"]
    return {
        "figures": [report[key] for key in ("status", "equations", "variables", "structural_index", "dof", "aliases")],
        "c": place(report["offsets"]["c"], equations),
        "d": place(report["offsets"]["d"], variables),
        "differentiations": sorted((equations[entry["equation"] - 1], entry["times"])
                                   for entry in report["differentiations"]),
        "superfluous": sorted(equations[k - 1] for k in report["superfluous_differentiations"]),
        "blocks": sorted((sorted(equations[k - 1] for k in block["equations"]),
                          sorted(variables[k - 1] for k in block["variables"]), block["linear"])
                         for block in report["blocks"]),
        "fixed": sorted(map(back, initial["fixed"])),
        "candidates": sorted(map(back, initial["candidates"])),
        "counts": [initial["free"], len(initial["redundant"]), len(initial["suggested"]),
                   len(report["hidden_constraints"])],
    }


def differences(path):
    """The facts that change when the model is permuted and renamed."""
    text = Text(path.read_text())
    code, report, _, words = analyze(path)
    if code:
        return [f"exit {code}\n{words}"]
    failures = []
    for entry in report["differentiations"]:
        if entry["line"] != text.parts["equation"][entry["equation"] - 1][0]:
            failures.append(f"equation {entry['equation']} is not at line {entry['line']}")
    original = canonical(report, list(range(len(text.parts["equation"]))), list(range(len(text.unknowns))), {})
    for seed in range(ROUNDS):
        changed, equations, variables, names = text.shuffled(seed)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / path.name
            copy.write_text(changed)
            code, report, _, words = analyze(copy)
        if code:
            failures.append(f"seed {seed}: exit {code}\n{words}")
            continue
        here = canonical(report, equations, variables, names)
        failures += [f"seed {seed}: {key} was {original[key]}, is {here[key]}" for key in original
                     if original[key] != here[key]]
    return failures


def test_set_figures(path):
    expected = TEST_SET[path.stem]
    code, report, _, words = analyze(path)
    if code:
        return [f"exit {code}\n{words}"]
    return [f"{key} is {report[key]}, expected {value}" for key, value in expected.items() if report[key] != value]


def main():
    passed = failed = 0

    def count(name, failures):
        nonlocal passed, failed
        passed, failed = passed + (not failures), failed + bool(failures)
        for failure in failures:
            print(f"{name}: {failure}")

    for path in sorted((SOURCE / "examples").glob("*.mo")):
        if path.stem in TEST_SET:
            count(f"figures of {path.name}", test_set_figures(path))
    for path in sorted((SOURCE / "tests/cases/papers").glob("*.mo")) + sorted((SOURCE / "examples").glob("*.mo")):
        count(f"{path.name} permuted", differences(path))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
