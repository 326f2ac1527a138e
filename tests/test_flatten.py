"""`daedal flatten` prints Base Modelica that reads back to the same model: the text of a text is the text itself.

Models of tests/flat_models show what the language has; lines that must be in their flat text stand in comments:

    // expect: TEXT

The other models of the repository are only read back.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]


def flatten(path):
    run = subprocess.run([DAEDAL, "flatten", path], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr


def read_back(flat):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "flat.bmo"
        path.write_text(flat)
        return flatten(path)


def failures_of(path):
    code, flat, words = flatten(path)
    if code:
        return [f"exit {code}\n{words}"]
    expected = re.findall(r"// expect: (.*)", path.read_text()) if path.parent.name == "flat_models" else []
    lines = [line.strip() for line in flat.split("\n")]
    failures = [f"no line {line!r}" for line in expected if line not in lines]
    code, again, words = read_back(flat)
    if code:
        return failures + [f"the flat text: exit {code}\n{words}"]
    if again != flat:
        failures.append("\n".join(difflib.unified_diff(flat.split("\n"), again.split("\n"), lineterm="", n=0)))
    return failures


def main():
    passed = failed = 0
    paths = sorted((SOURCE / "tests/flat_models").glob("*.mo")) + sorted((SOURCE / "tests/models/papers").glob("*.mo"))
    for path in paths + sorted((SOURCE / "examples").glob("*.mo")):
        failures = failures_of(path)
        passed, failed = passed + (not failures), failed + bool(failures)
        for failure in failures:
            print(f"{path.name}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
