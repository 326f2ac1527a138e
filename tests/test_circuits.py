#!/usr/bin/env python3
"""Every netlist of examples/circuits runs here and in ngspice, tightly, and the node voltages agree to 1e-4 of their range.

ngspice runs with reltol 1e-7 and steps of at most a thousandth of the run. If it is then farther off, it runs with still
shorter steps, which must bring it nearer.

Names given as arguments choose the netlists; -v prints the differences of all.
"""
import bisect
import csv
import glob
import math
import os
import subprocess
import sys
import tempfile

import ngspice

DAEDAL = os.environ["DAEDAL"]
SLOW = os.environ.get("BUILD_KIND") == "asan"  # some netlists only, which must run
FOLDER = os.path.join(os.environ["SOURCE_DIR"], "examples", "circuits")

# A few signals of a large circuit. bdf is used because radau passes over a transient of nanoseconds at the start in one step.
OPTIONS = {"nand.cir": ["--intervals", "40000"],
           "astable.cir": ["--intervals", "400000", "--variables", r"v\(.*\)"],
           "jfet_amplifier.cir": ["--intervals", "40000", "--solver", "bdf"],
           "ladder.cir": ["--intervals", "20000", "--tolerance", "1e-7", "--variables", r"v\((a|b|out)\)"]}

# The long tier compares these; they take as long as all others together.
LONG = ("astable.cir", "ladder.cir")
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"

# reltol 1e-7 takes ngspice minutes for these.
TOLERANCES = {"ladder.cir": ((1000, 1e-5),)}
SAVED = {"ladder.cir": "v(a) v(b) v(out)"}


def simulate(path, folder, *options):
    if "--tolerance" not in options:
        options += ("--tolerance", "1e-8")
    output = os.path.join(folder, "out.csv")
    run = subprocess.run([DAEDAL, "simulate", path, "--output-file", output, "-q", *options], capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr
    with open(output, encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = list(zip(*(map(float, row) for row in rows)))
    return dict(zip(names, columns)), run.stderr


def interpolate(times, values, t):
    k = bisect.bisect_right(times, t)
    if k == 0:
        return values[0]
    if k == len(times):
        return values[-1]
    t0, t1 = times[k - 1], times[k]
    return values[k - 1] + (values[k] - values[k - 1]) * (t - t0) / (t1 - t0)


def differences(ours, theirs):
    """Largest difference of each node voltage, relative to the signal's range. At time 0 ngspice has the operating point, which need not be a limit of later values."""
    times = theirs["time"]
    for name, values in theirs.items():
        if not name.startswith("v(") or "#" in name or name not in ours:
            continue
        size = max(abs(v) for v in values)
        reach = max(max(values) - min(values), 1e-3 * size) or 1
        worst = max(((abs(interpolate(ours["time"], ours[name], t) - v), t) for t, v in zip(times, values) if t > 0), default=(0, 0))
        yield worst[0] / reach, name, worst[1]


def charge_and_discharge(times):
    """v(out) of switch_hysteresis.cir in closed form: two alternating exponentials."""
    conductances = (1 / 10e3 + 1 / (10e6 + 100), 1 / 10e3 + 1 / 110)
    begin, value, closed, values = 0, 0, 0, []
    for t in times:
        while True:
            limit, constant = 5 / 10e3 / conductances[closed], 10e-9 / conductances[closed]
            span = constant * math.log((limit - value) / (limit - (1 if closed else 3)))
            if begin + span >= t:
                break
            begin, value, closed = begin + span, 1 if closed else 3, 1 - closed
        values.append(limit + (value - limit) * math.exp(-(t - begin) / constant))
    return values


# The exact values of signals for which ngspice is farther off than daedal.
CLOSED_FORMS = {"switch_hysteresis.cir": ("v(out)", charge_and_discharge)}

# Edges of an oscillator, whose times both programs find to 1e-8 of a period; waves of a line, which ngspice interpolates.
BOUNDS = {"astable.cir": 1e-3, "transmission_line.cir": 1e-3}


def check_closed_form(name, ours):
    signal, exact = CLOSED_FORMS[name]
    wanted = exact(ours["time"])
    worst = max(abs(a - b) for a, b in zip(wanted, ours[signal])) / (max(wanted) - min(wanted))
    if worst > 1e-4:
        print(f"{name}: {signal} differs by {worst:.2e} of its range from the closed form")
    return worst <= 1e-4


def runs(path):
    with tempfile.TemporaryDirectory() as folder:
        values, words = simulate(path, folder, "--intervals", "50", "--tolerance", "1e-4")
    if values is None:
        print(f"{os.path.basename(path)}: {words}")
    return values is not None


def check(path, verbose):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        ours, words = simulate(path, folder, *OPTIONS.get(name, ["--intervals", "20000"]))
    if ours is None:
        print(f"{name}: {words}")
        return False
    if name in CLOSED_FORMS:
        return check_closed_form(name, ours)
    if name in SAVED:
        text = text.replace("\n.end\n", f"\n.save {SAVED[name]}\n.end\n")
    bound, found = BOUNDS.get(name, 1e-4), None
    for parts, reltol in TOLERANCES.get(name, ((1000, 1e-7), (5000, 1e-8), (40000, 1e-9))):
        theirs = ngspice.run(path, ngspice.tight(text, reltol, parts))
        if theirs is None:
            break
        if "time" not in theirs:  # a sweep: time advances by a step of the first source
            swept = theirs.pop(next(iter(theirs)))
            theirs["time"] = [abs(swept[1] - swept[0]) * k for k in range(len(swept))]
        found = max(differences(ours, theirs))
        if found[0] <= bound:
            break
    if found is None:
        print(f"{name}: ngspice fails")
        return False
    worst, signal, time = found
    if verbose or worst > bound:
        print(f"{name}: {signal} differs by {worst:.2e} of its range at {time:.6g}, ngspice in {parts} parts", flush=True)
    return worst <= bound


def main():
    if not ngspice.NGSPICE:
        print("ngspice is not installed: nothing is compared")
        return 0
    words = [word for word in sys.argv[1:] if word != "-v"]
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.cir")))
    if words:
        paths = [path for path in paths if any(word in os.path.basename(path) for word in words)]
    if SLOW:
        paths = [path for path in paths[::5] if os.path.basename(path) not in OPTIONS]
        bad = [path for path in paths if not runs(path)]
        print(f"{len(paths) - len(bad)} of {len(paths)} netlists run")
        return 1 if bad else 0
    if not words and not IS_LONG:
        paths = [path for path in paths if os.path.basename(path) not in LONG]
    bad = [path for path in paths if not check(path, "-v" in sys.argv)]
    print(f"{len(paths) - len(bad)} of {len(paths)} netlists agree with ngspice")
    return 1 if bad or (not paths) else 0


if __name__ == "__main__":
    sys.exit(main())
