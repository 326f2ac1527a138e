"""Values between the steps, for a state that follows an input: the stiffer the state is, the more closely it follows. Steps are as long as the input
allows, so nearly all output is interpolated; it must be as accurate as the steps. The solution is known in closed form."""
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

DAEDAL = os.environ["DAEDAL"]
SLOW = os.environ.get("BUILD_KIND") == "asan"
MODELS = int(os.environ.get("OUTPUT_MODELS", "12" if SLOW else "60"))
# Largest error allowed for a column that is twice the state, in tolerances. Between its stages radau interpolates with the order of the stages, which is lower than that of its steps.
SOLVERS = {"auto": 250, "radau": 250, "bdf": 20, "ida": 40, "cvode": 80}


def exact(rate, speed, t):
    share = rate / (rate * rate + speed * speed)
    return share * (rate * math.sin(speed * t) - speed * math.cos(speed * t) + speed * math.exp(-rate * t))


def worst(seed, folder):
    draw = random.Random(seed)
    rate, speed = 10 ** draw.uniform(0, 7), draw.uniform(1, 20)
    tolerance, solver = 10 ** -draw.uniform(3.5, 8), list(SOLVERS)[seed % len(SOLVERS)]
    model, output = os.path.join(folder, "m.mo"), os.path.join(folder, "o.csv")
    with open(model, "w", encoding="utf-8") as file:
        file.write(f"model M Real y(start = 0, fixed = true), z; equation der(y) = {rate}*(sin({speed}*time) - y); z = 2*y; end M;\n")
    run = subprocess.run([DAEDAL, "simulate", model, "-q", "--stop-time", "2", "--tolerance", str(tolerance), "--solver", solver,
                          "--output-file", output], capture_output=True, text=True, check=False)
    if run.returncode:
        return math.inf, f"{solver}: {run.stderr.strip()}"
    with open(output, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    error = max(abs(float(row["z"]) - 2 * exact(rate, speed, float(row["time"]))) for row in rows)
    return error / tolerance / SOLVERS[solver], f"{solver}, rate {rate:.3g}, speed {speed:.3g}, tolerance {tolerance:.1e}: off by {error:.1e}"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(MODELS):
            ratio, text = worst(seed, folder)
            if ratio > 1:
                failed += 1
                print(f"seed {seed}: {text}")
    print(f"{MODELS - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
