"""Every parameter that `simulate --override` accepts can be set by an importer of the FMU, and the trajectory is the same.

Each example is exported; parameters and start values that its description allows to set get other values, one or several at a time.
The long tier uses all examples, the quick one a few of them."""
import csv
import math
import os
import pathlib
import random
import resource
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as xml
import zipfile

from counted import check, finish

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DRIVER = os.path.join(os.environ["BUILD_DIR"], "tests", "fmi_driver")
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long" or "DAEDAL_FMU_ALL" in os.environ
QUICK = ["slider_crank.mo", "modelica/house.mo", "circuits/perfect_transformer.cir", "circuits/rc.cir"]
PART = 0.02  # part of the stop time: up to there, chaotic examples still depend smoothly on their start
# Boundary values: a run finds its start by itself, an FMU begins where the export found it. In water.mo, Reynolds numbers are a
# million times the flows, which have an absolute tolerance.
UNLIKE = ("control", "water.mo")
PATIENCE = 20  # seconds of processor time


def run(*words):
    """None: it took too much processor time."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1)))
    return None if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else done


def read_description(fmu):
    with zipfile.ZipFile(fmu) as archive:
        return xml.fromstring(archive.read("modelDescription.xml"))


def settable(root):
    """(name, type, start) of each variable that an importer may set before the start, except inputs."""
    found = []
    for variable in root.find("ModelVariables"):
        inner = variable[0] if variable.tag == "ScalarVariable" else variable
        kind, start = variable.get("causality"), inner.get("start")
        if start is not None and variable.get("variability") != "constant" and kind in ("parameter", "calculatedParameter", "local", "output"):
            found.append((variable.get("name"), inner.tag, start))
    return found


def other_value(generator, tag, start):
    """A value near the start value; as the driver and as --override read it."""
    if tag == "Boolean":
        value = start != "true"
        return str(int(value)), str(value).lower()
    if tag in ("Int32", "Integer"):
        return str(int(start) + 1), str(int(start) + 1)
    if tag == "Enumeration":
        return None
    number = float(start) * generator.choice([0.97, 1.04, 1.1]) if float(start) else generator.choice([1e-3, -2e-3])
    return repr(number), repr(number)


def simulate(model, settings, start, stop, tolerance, folder):
    done = run(DAEDAL, "simulate", model, "-q", "--output-file", folder / "reference.csv", "--stop-time", repr(start + PART * (stop - start)),
               "--tolerance", tolerance / 1000, "--intervals", 2, "--override", ",".join(f"{name}={value}" for name, value in settings))
    if done is None or done.returncode:
        return done
    with open(folder / "reference.csv", newline="") as file:
        names, *rows = csv.reader(file)
    columns = {name: [float(row[k] or "nan") for row in rows] for k, name in enumerate(names)}
    return {name: (values[-1], max(map(abs, values))) for name, values in columns.items()}


def worst_of(reference, said):
    values = {name: float(value) for name, value in (line.rsplit("\t", 1) for line in said.splitlines())}
    worst = (0, "")
    for name, (expected, size) in reference.items():
        if name in values and not name.startswith("der(") and not math.isnan(expected):
            worst = max(worst, (abs(values[name] - expected) / (1 + size), name))
    return worst


def check_setting(model, fmu, root, chosen, folder):
    """Sets several values at once, in both kinds of FMU."""
    experiment = root.find("DefaultExperiment")
    start, stop, tolerance = (float(experiment.get(key)) for key in ("startTime", "stopTime", "tolerance"))
    reference = simulate(model, [(name, text) for name, (_, text) in chosen], start, stop, tolerance, folder)
    what = (model.name, " ".join(f"{name}={number}" for name, (number, _) in chosen))
    for kind in ("cs",) if model.suffix == ".cir" else ("cs", "me"):  # the driver's integrator is explicit, and circuits are stiff
        done = run(DRIVER, fmu, "part", repr(PART), kind, *(f"{name}={number}" for name, (number, _) in chosen))
        if done is None or reference is None:
            continue
        if not isinstance(reference, dict):
            check(done.returncode != 0, *what, kind, "runs, but daedal says", reference.stderr[:200])
            continue
        if done.returncode:
            check(False, *what, kind, "fails:", done.stderr[-300:])
            continue
        worst, name = worst_of(reference, done.stdout)
        check(worst <= 100 * tolerance, *what, kind, f"{name} is {worst / tolerance:.3g} tolerances away")


def check_example(model, turn, folder):
    generator, fmu = random.Random(turn), folder / "model.fmu"
    done = run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", 2 + turn % 2, "-q")
    if done is None or done.returncode:
        check(done is None, model.name, "is not exported:", done.stderr[:200] if done else "")
        return
    root = read_description(fmu)
    names = [(name, tag, start) for name, tag, start in settable(root)]
    chosen = [(name, value) for name, tag, start in names if (value := other_value(generator, tag, start))]
    generator.shuffle(chosen)
    check(chosen or "causality=\"calculatedParameter\"" not in xml.tostring(root, "unicode") or "D914" in run(DAEDAL, "export", model, "--fmu", fmu).stderr,
          model.name, "has parameters, none can be set, and nobody says so")
    for count in (1, 1, 3) if IS_LONG else (1, 2):
        if chosen:
            check_setting(model, fmu, root, chosen[:count], folder)
            chosen = chosen[count:]


def main():
    examples = sorted(path for path in (SOURCE / "examples").rglob("*") if path.suffix in (".mo", ".cir") and not set(path.parts) & set(UNLIKE))
    if not IS_LONG:
        examples = [SOURCE / "examples" / name for name in QUICK]
    only = os.environ.get("DAEDAL_EXAMPLE")
    with tempfile.TemporaryDirectory() as folder:
        for turn, model in enumerate(examples):
            if not only or only in str(model):
                check_example(model, turn, pathlib.Path(folder))
    return finish()


raise SystemExit(main())
