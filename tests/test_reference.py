"""The examples of docs/reference.md: every program of examples/reference compiles without a warning and prints the stated output, and every public
function is used in one of them."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])
COMPILER = [os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE / 'include'}"]


def run(program, folder):
    """The output, and the expected output."""
    binary = folder / program.stem
    subprocess.run([*COMPILER, program, "-o", binary, f"-L{BUILD}", "-ldaedal", "-lm", f"-Wl,-rpath,{BUILD}"], check=True)
    (folder / "run").mkdir(exist_ok=True)
    done = subprocess.run([binary], cwd=folder / "run", capture_output=True, text=True)
    said = re.search(r"/\* Output:\n(.*?) \*/", program.read_text(), re.DOTALL)[1]
    return done.returncode, done.stdout, "".join(line[3:] + "\n" for line in said.splitlines())


def main():
    programs = sorted((SOURCE / "examples/reference").glob("*.c"))
    used = set(re.findall(r"\bdaedal_\w+(?=\()", "".join(program.read_text() for program in programs)))
    header = (SOURCE / "include/daedal.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header[:header.index("how structs are handed out")], flags=re.DOTALL)
    public = set(re.findall(r"\b(daedal_\w+)\(", header))
    failures = [f"no example uses {name}" for name in sorted(public - used)]
    if len(public) < 100:
        failures.append(f"only {len(public)} functions were found in the header")
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            code, found, wanted = run(program, pathlib.Path(folder))
            if code or found != wanted:
                failures.append(f"{program.name}: status {code}, printed\n{found}instead of\n{wanted}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
