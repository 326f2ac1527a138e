"""A run that stops because of an error leaves the rows up to the stop, and none after it. The models fail at a known time, and run with every solver and number of rows. The last row is at
or before the time of the stop, and all rows are on the solution in closed form."""
import csv
import io
import math
import os
import pathlib
import subprocess
import sys
import tempfile

DAEDAL = os.environ["DAEDAL"]
SOLVERS = ["auto", "erk", "radau", "bdf", "ida", "cvode"]
LOOP = 80  # equations in one block; a block of this size is examined only in every tenth step

# text of the model, time of its end, solution
MODELS = {
    "square root": ("Real x(start = 1, fixed = true), y; equation der(x) = -1; y = sqrt(x);", 1, {"x": lambda t: 1 - t, "y": lambda t: math.sqrt(max(1 - t, 0))}),
    "logarithm": ("Real x(start = 1, fixed = true), y; equation der(x) = -1; y = log(x);", 1, {"x": lambda t: 1 - t}),
    "division": ("Real x(start = 1, fixed = true), y; equation der(x) = -1; y*x = 1;", 1, {"x": lambda t: 1 - t, "y": lambda t: 1 / (1 - t)}),
    "assertion": ('Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.3, "low");', 0.7, {"x": lambda t: 1 - t}),
    "assertion at a time": ('Real x(start = 1, fixed = true); equation der(x) = -1; assert(time < 0.4, "late");', 0.4, {"x": lambda t: 1 - t}),
    "fold": ("Real x(start = 1); equation x^2 = 1 - time;", 1, {"x": lambda t: math.sqrt(max(1 - t, 0))}),
    "fold of a state": ("Real x(start = 1, fixed = true), y(start = 1); equation der(x) = -1; y^2 = x;", 1,
                        {"x": lambda t: 1 - t, "y": lambda t: math.sqrt(max(1 - t, 0))}),
    "fold of a large block": (f"Real s(start = 0, fixed = true), x[{LOOP}](each start = 1); equation der(s) = 1; for i in 1:{LOOP} loop "
                              f"x[i]^2 + 0.01*(x[if i == {LOOP} then 1 else i + 1] - x[i]) = 1 - s; end for;", 1,
                              {"s": lambda t: t, "x[1]": lambda t: math.sqrt(max(1 - t, 0)), f"x[{LOOP}]": lambda t: math.sqrt(max(1 - t, 0))}),
    "infinite": ("Real x(start = 1, fixed = true); equation der(x) = x^2;", 1, {"x": lambda t: 1 / (1 - t)}),
    "events without end": ("Real x(start = 1, fixed = true), v(start = 0, fixed = true); equation der(x) = v; der(v) = -9.81; "
                           "when x <= 0 then reinit(v, -0.5*pre(v)); end when; assert(time < 0.45, \"down\");", 0.4515236,
                           {"x": lambda t: 1 - 9.81 / 2 * t * t}),
    "a whole array": ("Real x[3](start = {1, 2, 3}, each fixed = true), y; equation for i in 1:3 loop der(x[i]) = -1; end for; y = sqrt(x[1]);", 1,
                      {"x[2]": lambda t: 2 - t}),
}


def fails(folder, name, solver, intervals):
    """The errors found; [] if there are none."""
    text, end, solution = MODELS[name]
    (folder / "m.mo").write_text(f"model M {text} end M;")
    run = subprocess.run([DAEDAL, "simulate", "m.mo", "--solver", solver, "--stop-time", "2", "--intervals", str(intervals), "--tolerance", "1e-8",
                          "--output-file", "o.csv", "-q"], cwd=folder, capture_output=True, text=True)
    if run.returncode != 6:
        return [f"status {run.returncode}: {run.stderr}"]
    rows = list(csv.DictReader(io.StringIO((folder / "o.csv").read_text())))
    times = [float(row["time"]) for row in rows]
    said = [part for part in run.stderr.replace(":", " ").split("time ")[1:]]
    stop = float(said[0].split()[0].rstrip(",")) if said else end
    wrong = []
    if times[-1] > stop + 1e-9 * stop:
        wrong.append(f"a row at {times[-1]}, behind the stop at {stop}")
    if times[-1] > end * (1 + 1e-5):
        wrong.append(f"a row at {times[-1]}, behind the end of the solution at {end}")
    if any(b < a - 1e-9 for a, b in zip(times, times[1:])) or times[0] != 0:  # an event may be found again, earlier by round-off
        wrong.append("times do not ascend from the start")
    for row, t in zip(rows, times):
        for variable, value in solution.items():
            if t > end * (1 - 1e-3):
                continue  # the solution has no bounded derivatives there
            if abs(float(row[variable]) - value(t)) > 1e-4 * (1 + abs(value(t)) ** 2):
                wrong.append(f"{variable} is {row[variable]} at {t}, not {value(t)}")
                break
    return wrong[:3]


def main():
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(MODELS):
            for j, solver in enumerate(SOLVERS):
                wrong = fails(pathlib.Path(folder), name, solver, (50, 1000)[(k + j) % 2])
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(name, solver, *wrong, sep="\n  ")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
