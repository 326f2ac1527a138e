#!/usr/bin/env python3
"""Models with no equations, no variables or no states, through every command, method and solver: each ends with a documented
status, and none reads memory that does not exist (which the sanitizers would detect). The models are those of cases/nothing, which say how each
must end."""
import os
import pathlib
import subprocess
import tempfile

DAEDAL = os.environ["DAEDAL"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="daedal-nothing-"))
calls = 0
MODELS = sorted((pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/cases/nothing").glob("*.mo"))
assert MODELS


def names(option):
    """The methods or solvers of this program."""
    text = subprocess.run([DAEDAL, "simulate", "x.mo", option, "?"], capture_output=True, text=True).stderr
    return text.split("available ")[1].split(":")[1].strip().split(", ")


def run(*arguments):
    global calls
    calls += 1
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 2, 3, 4, 5, 6), (arguments, done.returncode, done.stderr)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, (arguments, done.stderr)
    return done.returncode


for model in MODELS:
    inputs = ["--input", "u=1"] if model.stem == "input" else []
    for command in ("check", "flatten", "analyze", "reduce"):
        run(command, model)
    for command in ("init", "linearize", "steady", "compare"):
        run(command, model, *inputs)
    run("simulate", model, *inputs, "--output-file", "a.csv", "--json", "a.json", "--plot", "a.svg")
    run("report", model, *inputs, "--html", "a.html", "--compare")
    run("export", model, *inputs, "--c", f"c_{model.stem}", "--standalone")
    run("sweep", model, *inputs, "--samples", "2", "--output-file", "s.csv")
    run("fit", model, *inputs, "--data", "a.csv", "--parameters", "k=1")
    run("simulate", model, *inputs, "--output-file", "-", "--quiet", "--gradient", "x")
    for method in names("--method"):
        run("simulate", model, *inputs, "--method", method, "--output-file", "b.mat")
    for solver in names("--solver"):
        run("simulate", model, *inputs, "--solver", solver, "--output-file", "b.csv")
print(f"{calls} runs of {len(MODELS)} models")
