#!/usr/bin/env python3
"""Models with no equations, no variables or no states, through every command, method and solver: each ends with a documented status, and none reads
what is not there (which the sanitizers see)."""
import os
import pathlib
import subprocess
import tempfile

DAEDAL = os.environ["DAEDAL"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="daedal-nothing-"))
calls = 0

MODELS = {
    "Empty": "model Empty end Empty;",
    "Parameter": "model Parameter parameter Real k = 1; parameter Real l = 2*k; end Parameter;",
    "Free": "model Free parameter Real k(fixed = false); initial equation k^2 = 4; end Free;",
    "Contradiction": "model Contradiction parameter Real k(fixed = false); initial equation k = 1; k = 2; end Contradiction;",
    "Discrete": "model Discrete discrete Integer n(start = 0, fixed = true); equation when sample(0, 0.3) then n = pre(n) + 1; end when; end Discrete;",
    "Boolean": "model Boolean_ Boolean b = time > 0.5; end Boolean_;",
    "String": 'model Text parameter String s = "a"; end Text;',
    "Algebraic": "model Algebraic Real x = time; end Algebraic;",
    "Constant": "model Constant Real x = 1; end Constant;",
    "Alias": "model Alias Real x = 1; Real y = x; Real z = -y; end Alias;",
    "Nonlinear": "model Nonlinear Real x(start = 1); equation x^2 = 1 + time; end Nonlinear;",
    "State": "model State Real x(start = 1, fixed = true); equation der(x) = 0; end State;",
    "Array": "model Array_ parameter Integer n = 0; Real x[n](each start = 1, each fixed = true); equation der(x) = -x; end Array_;",
    "Input": "model Input input Real u; output Real y = u; end Input;",
    "Assert": 'model Assert equation assert(time < 2, "late"); end Assert;',
    "Terminate": 'model Terminate equation when time > 0.5 then terminate("done"); end when; end Terminate;',
    "Time": "model Time initial equation 1 = time; end Time;",
    "Unset": "model Unset parameter Real k; initial equation k = 2; end Unset;",
    "Undefined": "model Undefined Real x[0]; equation sqrt(-1 - time) = 1; end Undefined;",
    "Twin": "model Twin equation sqrt(time - 1) = sqrt(time - 1); end Twin;",
    "Record": "package P record R end R; model M R r; end M; end P;",
    "Connector": "package P connector C Real e; flow Real f; end C; model M C c; end M; end P;",
}


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


for name, text in MODELS.items():
    (folder / f"{name}.mo").write_text(text + "\n")
    model, inputs = f"{name}.mo", ["--input", "u=1"] if name == "Input" else []
    for command in ("check", "flatten", "analyze", "reduce"):
        run(command, model)
    for command in ("init", "linearize", "steady", "compare"):
        run(command, model, *inputs)
    run("simulate", model, *inputs, "--output-file", "a.csv", "--json", "a.json", "--plot", "a.svg")
    run("report", model, *inputs, "--html", "a.html", "--compare")
    run("export", model, *inputs, "--c", f"c_{name}", "--standalone")
    run("sweep", model, *inputs, "--samples", "2", "--output-file", "s.csv")
    run("fit", model, *inputs, "--data", "a.csv", "--parameters", "k=1")
    run("simulate", model, *inputs, "--output-file", "-", "--quiet", "--gradient", "x")
    for method in names("--method"):
        run("simulate", model, *inputs, "--method", method, "--output-file", "b.mat")
    for solver in names("--solver"):
        run("simulate", model, *inputs, "--solver", solver, "--output-file", "b.csv")
print(f"{calls} runs of {len(MODELS)} models")
