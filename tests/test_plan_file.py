"""A plan in a file runs as its model does, and a file that is damaged, or of another version, is refused by name.

The quick tier uses a few examples, the long one all of them. Damage is random: changed bytes, and missing ends."""
import csv
import json
import os
import pathlib
import random
import subprocess
import tempfile

from counted import check, finish

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"
QUICK = ["pendulum.mo", "slider_crank.mo", "events/bouncing_ball.mo", "modelica/dc_motor.mo", "modelica/house.mo", "circuits/nand.cir", "circuits/rc.cir", "energy/pendulum.mo"]
TOLERANCE = 1e-8
DAMAGES = 400 if IS_LONG else 40


def run(*words):
    return subprocess.run([DAEDAL, *map(str, words)], capture_output=True, text=True, errors="replace")


def read_rows(path):
    with open(path, newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def last_row(path):
    return read_rows(path)[-1]


def check_same(model, folder):
    plan, name = folder / "m.plan", model.relative_to(SOURCE / "examples")
    done = run("plan", model, "-o", plan)
    if done.returncode == 4 and "D408" in done.stderr:
        print(name, "has no plan:", done.stderr.strip())
        return
    check(done.returncode == 0, name, done.stderr)
    words = ["--tolerance", TOLERANCE, "--intervals", "20", "-q"]
    before = run("simulate", model, *words, "-o", folder / "a.csv", "--json", folder / "a.json")
    after = run("simulate", plan, *words, "-o", folder / "b.csv", "--json", folder / "b.json")
    check(before.returncode == after.returncode, name, after.stderr)
    if before.returncode or after.returncode:
        return
    rows = read_rows(folder / "a.csv")
    a, b = rows[-1], last_row(folder / "b.csv")
    check(a.keys() == b.keys(), name, "other variables:", a.keys() ^ b.keys())
    for variable in a.keys() & b.keys():
        size = max(abs(row[variable]) for row in rows)
        check(abs(a[variable] - b[variable]) <= 1e-4 * (1 + size), name, variable, a[variable], b[variable])
    states = [json.loads((folder / file).read_text())["states"] for file in ("a.json", "b.json")]
    check(states[0] == states[1], name, "states", states)


def check_overrides(folder):
    """Values given to a run apply to the model's parameters, and initial values follow them."""
    model, plan = SOURCE / "examples/pendulum.mo", folder / "m.plan"
    run("plan", model, "-o", plan)
    for words in (["--override", "L=2"], ["--method", "ggl"], ["--solver", "bdf"], ["--start-time", "1", "--stop-time", "2"]):
        ends = []
        for path in (model, plan):
            done = run("simulate", path, *words, "--tolerance", TOLERANCE, "-o", folder / "o.csv", "-q")
            check(done.returncode == 0, words, done.stderr)
            ends.append(last_row(folder / "o.csv"))
        check(all(abs(ends[0][name] - ends[1][name]) <= 1e-4 for name in ends[0]), words, ends)


def check_refused(plan, text, expected, folder):
    (folder / "bad.plan").write_bytes(text)
    done = run("simulate", folder / "bad.plan", "-o", folder / "o.csv")
    check(done.returncode == 7 and "D702" in done.stderr and expected in done.stderr, expected, done.returncode, done.stderr)


def check_damage(folder):
    plan, draw = folder / "m.plan", random.Random(38)
    run("plan", SOURCE / "examples/slider_crank.mo", "-o", plan)
    whole = plan.read_bytes()
    for _ in range(DAMAGES):
        at = draw.randrange(len(whole))
        check_refused(plan, whole[:at] + bytes([whole[at] ^ (1 << draw.randrange(8))]) + whole[at + 1:], "bad.plan", folder)
        check_refused(plan, whole[:at], "bad.plan", folder)
    lines = whole.split(b"\n")
    check_refused(plan, b"\n".join([lines[0], b"version 99.0.0", *lines[2:]]), "it is a plan of daedal 99.0.0", folder)
    check_refused(plan, b"daedal plan 2\n" + b"\n".join(lines[1:]), "not a plan in this version of the format", folder)


def main():
    examples = SOURCE / "examples"
    models = sorted(examples.rglob("*.mo")) + sorted(examples.rglob("*.cir")) if IS_LONG else [examples / name for name in QUICK]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        for model in models:
            check_same(model, folder)
        check_overrides(folder)
        check_damage(folder)
    return finish()


if __name__ == "__main__":
    raise SystemExit(main())
