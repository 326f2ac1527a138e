"""The Python package: its tests with the library just built. Then a wheel is built without a network and installed in a clean virtual environment, in which test_daedal.py runs again."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])


def interpreter():
    """An interpreter that has NumPy and pytest: this one, or the interpreter of the system; None if there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy, pytest"], capture_output=True).returncode == 0:
            return python
    return None


def run_tests(python, tests="", **environment):
    """(passed, failed) of the package's tests."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SOURCE / "python" / "tests" / tests)]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    counts = [sum(int(n) for n in re.findall(rf"(\d+) {word}", done.stdout.splitlines()[-1])) if done.stdout else 0
              for word in ("passed", "failed|error")]
    if done.returncode:
        print(done.stdout, done.stderr)
    return counts[0], counts[1] or int(done.returncode != 0)


def run_installed(python):
    """(passed, failed) in a virtual environment with only the package installed."""
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        subprocess.run([python, "-m", "venv", "--system-site-packages", str(folder)], check=True, capture_output=True)
        inside = str(folder / "bin" / "python")
        install = [inside, "-m", "pip", "install", "--no-index", "--quiet", str(SOURCE / "python")]
        done = subprocess.run(install, capture_output=True, text=True,
                              env={**os.environ, "DAEDAL_LIBRARY": str(BUILD / "libdaedal.so")})
        if done.returncode:
            print(done.stdout, done.stderr)
            return 0, 1
        return run_tests(inside, "test_daedal.py")
    finally:
        shutil.rmtree(folder)


def main():
    python = interpreter()
    if os.environ["BUILD_KIND"] == "asan" or python is None:  # Python has no sanitizer runtime
        print("0 passed, 0 failed")
        return 0
    here = run_tests(python, PYTHONPATH=str(SOURCE / "python"), DAEDAL_LIBRARY=str(BUILD / "libdaedal.so"))
    there = run_installed(python)
    print(f"{here[0] + there[0]} passed, {here[1] + there[1]} failed")
    return 1 if here[1] + there[1] else 0


if __name__ == "__main__":
    sys.exit(main())
