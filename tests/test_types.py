"""The types of the Python package, checked by mypy with all its checks. The package itself has no errors; in a program that uses it, exactly the wrong lines are found."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])

PROGRAM = """\
import daedal

TEXT = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
options: daedal.RunOptions = {"stop_time": 2.0, "method": "dummy", "sensitivity": ["k"]}
model = daedal.Model(TEXT)
result = model.simulate({"k": 2}, **options)
last: float = float(result["x"][-1])
units: str = result.unit("x")
steps: int = result.statistics.steps
index: int = model.analyze().structural_index
for name, parameter in model.parameters.items():
    print(name, parameter.value, parameter.unit)
run = model.plan(stop_time=1).run()
run.start()
run["x"] = 0.5
found = daedal.fit(model, {"time": [0, 1], "x": [1, 0.5]}, {"k": None})
low, high = found.intervals["k"]
table = daedal.sweep(model, {"k": [1, 2]}, outputs=["x"])
column = table["x"].mean()
form = daedal.linearize(model, by=[], outputs=["x"])
try:
    daedal.simulate("missing.mo")
except daedal.Error as error:
    print([one.message for one in error.diagnostics])
wrong: daedal.RunOptions = {"stop_time": "2"}  # wrong
other: daedal.RunOptions = {"stoptime": 2.0}  # wrong
word: str = result.statistics.steps  # wrong
model.simulate(inputs=3)  # wrong
result["x"].no_such_thing  # wrong
daedal.sweep(model, samples="many")  # wrong
daedal.fit(model, {}, {"k": "guess"})  # wrong
"""


def check(arguments, folder):
    done = subprocess.run(["mypy", "--config-file", SOURCE / "python/pyproject.toml", "--cache-dir", folder / "cache", *arguments],
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE / "python")}, cwd=folder)
    return done.stdout


def main():
    if not shutil.which("mypy"):
        print("0 passed, 0 failed")
        return 0
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        said = check([SOURCE / "python/daedal"], folder)
        if "Success" not in said:
            failed.append(said)
        said = check(["program.py"], folder)
        found = {int(line) for line in re.findall(r"^program\.py:(\d+): error", said, re.MULTILINE)}
        meant = {k for k, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}
        if found != meant:
            failed.append(f"errors in lines {sorted(found)}, not {sorted(meant)}:\n{said}")
    for one in failed:
        print(one)
    print(f"{2 - len(failed)} passed, {len(failed)} failed")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
