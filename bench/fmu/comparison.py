"""Shared by the scripts of this folder: running programs, reading trajectories, comparing them."""
import csv
import math
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
UNIT = 1e-6


def examples(names):
    """All examples, or those whose path has one of the names."""
    models = sorted(EXAMPLES.rglob("*.mo")) + sorted(EXAMPLES.rglob("*.cir"))
    return [m for m in models if not names or any(name in str(m.relative_to(EXAMPLES)) for name in names)]


def refusal(done):
    """The message of a failed export, in one line."""
    return f"{'refused' if done.returncode == 4 else 'FAILED'}: {' '.join(done.stderr.split()).split('error: ')[-1]}"


def execute(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)


def read_csv(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    return {name: [float(row[k] or "nan") for row in rows] for k, name in enumerate(names)}


def simulate(daedal, model, folder, tolerance, *more):
    """The trajectory: lists by name."""
    done = execute(daedal, "simulate", model, "-q", "--tolerance", repr(tolerance), "--output-file", folder / "own.csv", *more)
    if done.returncode:
        raise RuntimeError(f"daedal itself: {done.stderr.strip()}")
    return read_csv(folder / "own.csv")


def last(trajectory):
    return {name: values[-1] for name, values in trajectory.items()}


def row_at(trajectory, time):
    """The last row at a time, or nearest to it."""
    times = trajectory["time"]
    return min(range(len(times)), key=lambda k: (abs(times[k] - time), -k))


def difference(reference, values):
    """The largest difference, divided by 1 + the size of the signal, in multiples of UNIT. Derivatives with respect to time are
    left out, because they are less accurate in proportion to their rate."""
    worst, text, row = 0.0, "", row_at(reference, values["time"])
    for name, trajectory in reference.items():
        if name not in values or name.startswith("der(") or math.isnan(trajectory[row]):
            continue
        off = abs(values[name] - trajectory[row]) / (1 + max(map(abs, trajectory))) / UNIT
        if not off <= worst:
            worst, text = off, f"{name} is {values[name]!r}, not {trajectory[row]!r}"
    return worst, text


def number(value):
    return "" if value is None else f"{value:.2g}" if isinstance(value, float) else str(value)
