"""Data tests of the language: models that must be accepted, with lines that their flat form must have.

    // expect: LINE      a line of `daedal flatten`, without the space around it

Besides, `daedal check` must find each fine, and the flat form, read again, must give the same flat form."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]


def daedal(*words):
    run = subprocess.run([DAEDAL, *words], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr


def faults(path):
    """What is wrong with this model; nothing if all is well."""
    code, _, words = daedal("check", path)
    if code != 0:
        return [f"check: exit {code}: {words}"]
    code, flat, words = daedal("flatten", path)
    if code != 0:
        return [f"flatten: exit {code}: {words}"]
    lines = {line.strip() for line in flat.splitlines()}
    found = [f"missing: {line}" for line in expectations(path) if line not in lines]
    with tempfile.TemporaryDirectory() as folder:
        again = pathlib.Path(folder) / "flat.bmo"
        again.write_text(flat)
        code, second, words = daedal("flatten", again)
    if code != 0 or second != flat:
        found.append(f"the flat form, read again, differs: exit {code}: {words}")
    return found


def expectations(path):
    for line in path.read_text().splitlines():
        _, mark, rest = line.partition("// expect: ")
        if mark:
            yield rest.strip()


def main():
    models = sorted((SOURCE / "tests/models/good").glob("*.mo"))
    failed = 0
    for path in models:
        found = faults(path)
        failed += bool(found)
        for fault in found:
            print(f"{path.name}: {fault}")
    print(f"{len(models) - failed} passed, {failed} failed")
    return failed != 0 or not models


sys.exit(main())
