"""FMUs survive callers that break the rules of FMI: the call returns the error that FMI requires, nothing crashes, and the run continues or starts again as if the call had not been made.

The sources of an FMU are compiled with fmi_caller.c and sanitizers. The long tier makes more sequences of calls."""
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"
SEQUENCES = 2000 if IS_LONG else 5
MODELS = {"ball": """model Ball
  parameter Real e(min = 0) = 0.7;
  parameter Integer n = 3;
  input Real push(start = 0);
  output Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  discrete Integer bounces(start = 0, fixed = true);
  Boolean flies = h > 0.1;
equation
  der(h) = v;
  der(v) = push - 9.81;
  when h < 0 and bounces < 5*n then
    reinit(v, -e*pre(v));
    bounces = pre(bounces) + 1;
  end when;
end Ball;
""", "pendulum": "", "delayed": """model Delayed
  parameter Real T = 0.1;
  input Real u;
  Real x(start = 1, fixed = true), y = delay(x, T);
equation
  der(x) = -y + u;
end Delayed;
"""}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))[:300]}\nended with {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done


def check_model(model, version, folder, turn):
    fmu, place = folder / "model.fmu", folder / f"sources{version}"
    run(DAEDAL, "export", model, "--fmu", fmu, "--fmi", version, "--stop-time", "0.5", "-q")
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(place)
    root = xml.parse(place / "modelDescription.xml").getroot()
    token = root.get("guid") or root.get("instantiationToken")
    run("cc", "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-DVERSION={version}", "-o", folder / "caller",
        SOURCE / "tests/fmi_caller.c", *sorted((place / "sources").glob("*.c")), "-lm")
    return run(folder / "caller", token, "0", "0.5", len(root.find("ModelVariables")), turn, SEQUENCES).stdout


def main():
    passed = 0
    with tempfile.TemporaryDirectory() as name:
        for turn, (kind, text) in enumerate(MODELS.items() if IS_LONG else list(MODELS.items())[:1]):
            for version in (2, 3) if IS_LONG else (2 + turn % 2,):
                folder = pathlib.Path(name) / f"{kind}{version}"
                folder.mkdir()
                model = folder / f"{kind}.mo" if text else SOURCE / "examples" / f"{kind}.mo"
                if text:
                    model.write_text(text)
                passed += int(check_model(model, version, folder, turn).split()[0])
    print(f"{passed} passed, 0 failed")


main()
