"""`daedal fmu-check` accepts what daedal exports, and names each rule that a broken FMU breaks.

The broken FMUs are good ones with one change: an attribute, an element, or bytes of the archive."""
import os
import pathlib
import random
import re
import subprocess
import tempfile
import zipfile

from counted import check as expect, finish

DAEDAL = os.environ["DAEDAL"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
FUZZ = 400 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 25
MODEL = """model M
  type Gear = enumeration(low, high);
  parameter Real k(unit = "1/s", min = 0, max = 9) = 2, c = 2*k;
  parameter Gear gear = Gear.low;
  input Real u;
  output Real y = 2*x + u;
  Real x(start = 1, fixed = true);
equation
  der(x) = -c*x + u;
end M;
"""

# A text and its replacement, for FMI 2.0 and 3.0 (None: the rule does not exist), and words of the message.
BREAKS = [
    (r'guid="[^"]*"', "", r'instantiationToken="[^"]*"', "", "is missing"),
    (r'modelName="M"', "", r'modelName="M"', "", "modelName is missing"),
    (r'modelIdentifier="M"', 'modelIdentifier="1 M"', r'modelIdentifier="M"', 'modelIdentifier="1 M"', "not a name in C"),
    (r'stopTime="1"', 'stopTime="-1"', r'stopTime="1"', 'stopTime="-1"', "before startTime"),
    (r'tolerance="[^"]*"', 'tolerance="0"', r'tolerance="[^"]*"', 'tolerance="0"', "not positive"),
    (r'name="c" ', 'name="k" ', r'name="c" ', 'name="k" ', "occurs twice"),
    (None, None, r'name="c" valueReference="\d+"', 'name="c" valueReference="0"', "one value reference"),
    (r'causality="parameter" variability="tunable"', 'causality="parameter" variability="continuous"',
     r'causality="parameter" variability="tunable"', 'causality="parameter" variability="continuous"', "cannot be combined"),
    (r'causality="output"', 'causality="result"', r'causality="output"', 'causality="result"', "cannot be combined"),
    (r'(name="k".*?) start="2"', r"\1", r'(name="k".*?) start="2"', r"\1", "no start value"),
    (r'(name="y".*?<Real)', r'\1 start="3"', r'(name="y")', r'\1 start="3"', "is calculated, and has a start value"),
    (r'min="0" max="9"', 'min="9" max="0"', r'min="0" max="9"', 'min="9" max="0"', "min is above max"),
    (r'start="2"', 'start="20"', r'start="2"', 'start="20"', "below min or above max"),
    (r' unit="1/s"', ' unit="furlong"', r' unit="1/s"', ' unit="furlong"', "is not defined"),
    (r'declaredType="[^"]*"', 'declaredType="Nothing"', r'declaredType="[^"]*"', 'declaredType="Nothing"', "is not defined"),
    (r'declaredType="[^"]*"', "", r'declaredType="[^"]*"', "", "no declaredType"),
    (r'derivative="\d+"', 'derivative="99"', r'derivative="\d+"', 'derivative="99"', "derivative of no continuous variable"),
    (r'(<Outputs>\s*)<Unknown [^>]*>', r"\1", r"<Output [^>]*>", "", "output, or is listed as one"),
    (r"<InitialUnknowns>.*</InitialUnknowns>", "", r"<InitialUnknown [^>]*>", "", "missing in the list of initial unknowns"),
    (r'dependencies="\d+', 'dependencies="99', r'dependencies="\d+', 'dependencies="99', "name no variable"),
    (r'dependenciesKind="\w+', 'dependenciesKind="fixed fixed fixed', r'dependenciesKind="\w+', 'dependenciesKind="fixed fixed fixed', "kinds of them"),
    (r"<ModelStructure>.*</ModelStructure>", "", r"<ModelStructure>.*</ModelStructure>", "", "ModelStructure is missing"),
    (r"<ModelVariables>.*</ModelVariables>", "", r"<ModelVariables>.*</ModelVariables>", "", "ModelVariables is missing"),
    (r"</ModelStructure>", "", r"</ModelStructure>", "", "not an XML document"),
    (r'fmiVersion="2.0"', 'fmiVersion="1.0"', r'fmiVersion="3.0"', 'fmiVersion="4.0"', "not a description of FMI"),
    (r'causality="independent"', 'causality="local"', r'causality="independent"', 'causality="local"', None),
]


def check(path, *more):
    return subprocess.run([DAEDAL, "fmu-check", str(path), *map(str, more)], capture_output=True, text=True, errors="replace")


def rewrite(fmu, path, change, without=()):
    """A copy with another description, and without files."""
    with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(path, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            if name == "modelDescription.xml":
                content = change(content.decode()).encode()
            if not name.startswith(tuple(without) or "/"):
                copy.writestr(name, content)


def check_breaks(fmu, version, folder):
    for row in BREAKS:
        pattern, new = row[:2] if version == 2 else row[2:4]
        if pattern is None:
            continue
        rewrite(fmu, folder / "broken.fmu", lambda text: re.sub(pattern, new, text, count=0 if "InitialUnknown" in pattern else 1, flags=re.S))
        done = check(folder / "broken.fmu")
        if row[4] is None and version == 2:
            continue
        words = row[4] or "independent variables, not one"
        expect(done.returncode == 3 and words in done.stderr, version, pattern, done.returncode, done.stderr[:300])
    rewrite(fmu, folder / "broken.fmu", lambda text: text, ("binaries/", "sources/"))
    done = check(folder / "broken.fmu")
    expect(done.returncode == 3 and "neither a binary" in done.stderr, version, "no binary", done.stderr[:300])


def check_bytes(fmu, folder):
    """For any bytes, the exit status is one of daedal's, and nothing crashes."""
    generator, good, path = random.Random(5), fmu.read_bytes(), folder / "bytes.fmu"
    for number in range(FUZZ):
        bytes_ = bytearray(good)
        if number % 3 == 0:
            bytes_ = bytes_[: generator.randrange(len(bytes_))]
        for _ in range(generator.choice([1, 5, 50])):
            if bytes_:
                bytes_[generator.choice([generator.randrange(len(bytes_)), len(bytes_) - 1 - generator.randrange(min(len(bytes_), 1500))])] = generator.randrange(256)
        path.write_bytes(bytes(bytes_))
        expect(check(path).returncode in (0, 3, 7), "bytes", number)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, fmu = folder / "m.mo", folder / "m.fmu"
        model.write_text(MODEL)
        for version in (2, 3):
            subprocess.run([DAEDAL, "export", str(model), "--fmu", str(fmu), "--fmi", str(version), "-q"], check=True)
            done = check(fmu)
            expect(done.returncode == 0 and "the rules of FMI hold" in done.stderr, done.stderr)
            done = check(fmu, model, "--allow-external", "--tolerance", "1e-4")
            expect(done.returncode == 0 and done.stderr.count("runs to its end") == 3, done.returncode, done.stderr)
            check_breaks(fmu, version, folder)
        other = folder / "other.mo"
        other.write_text(MODEL.replace("k(unit", "k(start = 3, unit").replace("= 2, c", "= 2.5, c"))
        done = check(fmu, other, "--allow-external")
        expect(done.returncode == 8 and "largest difference" in done.stderr, "another model", done.returncode, done.stderr)
        expect(check(model).returncode in (3, 7) and check(folder / "none.fmu").returncode == 7, "no FMU")
        check_bytes(fmu, folder)
    return finish()


raise SystemExit(main())
