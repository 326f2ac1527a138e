"""Data tests of bad input: model files with the errors that `daedal check` must report, in comments.

    // expect: exit N                     the exit status
    // expect: LINE:COLUMN: WORDS         an error at this place whose message contains the words
    // expect: LINE: WORDS                the same for any column of the line

Every error that is reported must show its line and a caret below the column, and no file may report an error that it does
not expect: what follows from one error must not be reported as another.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]


def check(path):
    run = subprocess.run([DAEDAL, "check", path], capture_output=True, timeout=60)
    return run.returncode, run.stderr.decode(errors="replace")


def errors_of(path, words):
    """(line, column, message, following lines) of each error."""
    lines = words.splitlines()
    pattern = re.compile(re.escape(str(path)) + r":(\d+):(\d+): error: (.*)")
    found = []
    for i, line in enumerate(lines):
        match = pattern.match(line)
        if match:
            found.append((int(match[1]), int(match[2]), match[3], lines[i + 1:i + 3]))
    return found


def plain(text):
    """What can be compared of a line: up to a NUL, with anything but ASCII as a question mark."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in text.split("\0")[0]).strip()


def caret_fault(source, line, column, shown):
    """What is wrong with the picture of an error; None if nothing is."""
    if len(shown) < 2 or "^" not in shown[1]:
        return "no line with a caret"
    text = plain(source[line - 1] if line <= len(source) else "")
    if text[:10] not in plain(shown[0]):
        return f"shows {shown[0]!r}, not line {line}"
    return None


def failures_of(path):
    data = path.read_bytes().decode(errors="replace")
    source = data.split("\n")
    code, words = check(path)
    errors = errors_of(path, words)
    failures = []
    matched = set()
    expected = re.findall(r"// expect: (.*)", data)
    if not expected:
        failures.append("has no expectations")
    for line in expected:
        if line.startswith("exit "):
            if code != int(line[5:]):
                failures.append(f"exit {code}, expected {line[5:]}")
            continue
        match = re.match(r"(\d+):(?:(\d+):)? ?(.*)", line)
        place, part = (int(match[1]), match[2] and int(match[2])), match[3]
        hits = [i for i, error in enumerate(errors)
                if error[0] == place[0] and place[1] in (None, error[1]) and part in error[2]]
        matched.update(hits)
        if not hits:
            failures.append(f"expected {line}")
    for i, (line, column, message, shown) in enumerate(errors):
        if i not in matched:
            failures.append(f"not expected: {line}:{column}: {message}")
        fault = caret_fault(source, line, column, shown)
        if fault:
            failures.append(f"{line}:{column}: {fault}")
    if failures:
        failures.append(words)
    return failures


def missing_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nowhere.mo")
        code, words = check(path)
    return [] if code == 7 and "nowhere.mo" in words else [f"exit {code}\n{words}"]


def main():
    passed = failed = 0
    cases = [(path.name, failures_of, path) for path in sorted((SOURCE / "tests/bad_models").glob("*.mo"))]
    for name, run, path in cases:
        failures = run(path)
        passed, failed = passed + (not failures), failed + bool(failures)
        for failure in failures:
            print(f"{name}: {failure}")
    failures = missing_file()
    passed, failed = passed + (not failures), failed + bool(failures)
    for failure in failures:
        print(f"missing file: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
