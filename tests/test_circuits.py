#!/usr/bin/env python3
"""Every netlist of examples/circuits runs here and in ngspice, tightly, and the node voltages agree to 1e-4 of their range.

Names given as arguments choose the netlists; -v prints the differences of all.
"""
import bisect
import csv
import glob
import os
import subprocess
import sys
import tempfile

import ngspice

DAEDAL = os.environ["DAEDAL"]
FOLDER = os.path.join(os.environ["SOURCE_DIR"], "examples", "circuits")


def simulate(path, folder, *options):
    output = os.path.join(folder, "out.csv")
    run = subprocess.run([DAEDAL, "simulate", path, "--output-file", output, "-q", *options], capture_output=True, text=True,
                         timeout=60, check=False)
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
    """Largest difference of each node voltage, over the signal's range."""
    times = theirs["time"]
    for name, values in theirs.items():
        if not name.startswith("v(") or "#" in name or name not in ours:
            continue
        reach = max(values) - min(values) or max(abs(v) for v in values) or 1
        worst = max((abs(interpolate(ours["time"], ours[name], t) - v), t) for t, v in zip(times, values))
        yield name, worst[0] / reach, worst[1]


def options_of(text):
    """What a comment `*! --option value` of a netlist asks for."""
    return [word for line in text.splitlines() if line.startswith("*!") for word in line[2:].split()]


def check(path, verbose):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(path)
    if "*! skip" in text:
        return True
    with tempfile.TemporaryDirectory() as folder:
        ours, words = simulate(path, folder, "--intervals", "10000", "--tolerance", "1e-8", *options_of(text))
    if ours is None:
        print(f"{name}: {words}")
        return False
    theirs = ngspice.run(path, ngspice.tight(text))
    if theirs is None:
        print(f"{name}: ngspice fails")
        return False
    found = sorted(differences(ours, theirs), key=lambda item: -item[1])
    if not found:
        print(f"{name}: no node voltages in common")
        return False
    signal, worst, time = found[0]
    if verbose or worst > 1e-4:
        print(f"{name}: {signal} differs by {worst:.2e} of its range at {time:.6g}, of {len(found)} voltages", flush=True)
    return worst <= 1e-4


def main():
    if not ngspice.NGSPICE:
        print("ngspice is not installed: nothing is compared")
        return 0
    words = [word for word in sys.argv[1:] if word != "-v"]
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.cir")))
    if words:
        paths = [path for path in paths if any(word in path for word in words)]
    bad = [path for path in paths if not check(path, "-v" in sys.argv)]
    print(f"{len(paths) - len(bad)} of {len(paths)} netlists agree with ngspice")
    return 1 if bad or (not paths) else 0


if __name__ == "__main__":
    sys.exit(main())
