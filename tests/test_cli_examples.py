"""Each of our own examples runs through the command. Constraints hold to round-off, invariants (variables E and H) stay constant,
and the explicit and the implicit solver agree. The problems of the test set are measured elsewhere (bench/ivp)."""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
TEST_SET = {"andrews", "caraxis", "chemakzo", "transamp", "water", "wheelset"}
NOT_INVARIANT = {"gear_drive"}  # the motor feeds its energy
SOLVERS = ("erk", "radau")
DRIFT, AGREEMENT = 3e3, 1e4  # times the tolerance


def setting(text, name, default):
    found = re.search(rf"{name} = ([-+.\deE]+)", text)
    return float(found[1]) if found else default


def simulate(path, solver):
    """Report and rows."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.csv"
        run = subprocess.run([DAEDAL, "simulate", path, "--solver", solver, "--output-file", out, "--json", "-"],
                             capture_output=True, text=True)
        if run.returncode:
            raise AssertionError(f"{solver}: exit {run.returncode}\n{run.stderr}")
        with open(out) as file:
            rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return json.loads(run.stdout), rows


def check(path):
    text = path.read_text()
    tolerance, stop = setting(text, "Tolerance", 1e-6), setting(text, "StopTime", 1)
    finals = []
    for solver in SOLVERS:
        report, rows = simulate(path, solver)
        assert report["status"] == "ok" and report["solver"] == solver, report
        assert rows[-1]["time"] == stop, rows[-1]
        residual = report["constraint_residual"]
        assert residual["max"] is None or residual["max"] < 1e-11, residual
        for name in {"E", "H"} & set(rows[0]):
            drift = max(abs(row[name] - rows[0][name]) for row in rows)
            bound = DRIFT * tolerance * (1 + abs(rows[0][name]))
            assert path.stem in NOT_INVARIANT or drift < bound, f"{solver}: {name} drifts by {drift}"
        finals.append(report["final"])
    bound = AGREEMENT * tolerance * max(1, stop / 10)
    for name, value in finals[0].items():
        difference = abs(value - finals[1][name]) / (1 + abs(value))
        assert difference < bound, f"{name} is {value} with {SOLVERS[0]}, {finals[1][name]} with {SOLVERS[1]}"


def main():
    passed = failed = 0
    for path in sorted((SOURCE / "examples").glob("*.mo")):
        if path.stem in TEST_SET:
            continue
        try:
            check(path)
            passed += 1
        except AssertionError as error:
            failed += 1
            print(f"{path.name}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
