"""Places in reports are file and line. Models with a library of several files; the user gives one file, none, or a class of the
library. Each place that `analyze --json` and the page name contains the equation that they name."""
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

DAEDAL = os.environ["DAEDAL"]
COUNT = 200 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 12


def body(random_numbers, name, k):
    """A class of index 2 with its constraint on a separate line, after a random number of comments: an equation, a declaration, or
    the modification of a part."""
    constraint = f"x{k} = sin(time + {k}) + 2*{k}"
    form = random_numbers.randrange(3)
    comments = "".join(f"  // {n}\n" for n in range(random_numbers.randrange(12)))
    if form == 1:
        return f"model {name}\n{comments}  Real y{k},\n{comments}    {constraint};\nequation\n  der(x{k}) = y{k};\nend {name};\n"
    if form == 2:
        return (f"model {name}\n{comments}  model Part\n    Real x{k}(start = 1), y{k};\n  equation\n    der(x{k}) = y{k};\n  end Part;\n{comments}"
                f"  Part part(\n    {constraint});\nend {name};\n")
    return (f"model {name}\n{comments}  Real x{k}(start = 1), y{k};\nequation\n  der(x{k}) = y{k};\n{comments}"
            f"  {constraint};\nend {name};\n")


def write_library(folder, random_numbers):
    """A package of three classes, each a file."""
    package = folder / "lib" / "P"
    package.mkdir(parents=True)
    (package / "package.mo").write_text("within ;\npackage P\nend P;\n")
    for k in range(3):
        (package / f"C{k}.mo").write_text("within P;\n" + body(random_numbers, f"C{k}", k))
    return folder / "lib"


def run(folder, *words):
    return subprocess.run([DAEDAL, *map(str, words)], cwd=folder, capture_output=True, text=True, check=True).stdout


def check_places(folder, entries, expected, what):
    assert len(entries) == expected, f"{what}: {len(entries)} differentiations for {expected}"
    for entry in entries:
        line = (folder / entry["file"]).read_text().splitlines()[entry["line"] - 1].strip()
        assert line == entry["source"], f"{what}: line {entry['line']} of {entry['file']} is {line}, not {entry['source']}"
        number = re.search(r"x(\d) =", line)[1]
        assert re.match(rf"(c\d\.)?(part\.)?x{number} = ", entry["text"]), f"{what}: {entry}"


def check_page(folder, words, expected, has_text):
    run(folder, "report", *words, "-q")
    page, = folder.glob("*.html")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)[1])
    check_places(folder, data["analysis"]["differentiations"], expected, "page")
    assert bool(data["text"]) == has_text
    page.unlink()


def main():
    for seed in range(COUNT):
        random_numbers = random.Random(seed)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            library = write_library(folder, random_numbers)
            used = random_numbers.sample(range(3), random_numbers.randint(1, 3))
            own = body(random_numbers, "Own", 9)
            parts = "".join(f"  P.C{k} c{k};\n" for k in used)
            (folder / "m.mo").write_text(own.replace("model Own\n", "model Own\n" + parts, 1))
            words = ["m.mo", "--library", library]
            check_places(folder, json.loads(run(folder, "analyze", *words, "--json"))["differentiations"], len(used) + 1, f"seed {seed}")
            check_page(folder, words, len(used) + 1, True)
            words = ["--model", f"P.C{used[0]}", "--library", library]
            check_places(folder, json.loads(run(folder, "analyze", *words, "--json"))["differentiations"], 1, f"seed {seed}, a class")
            check_page(folder, words, 1, False)
    print(f"{COUNT} passed, 0 failed")


if __name__ == "__main__":
    main()
