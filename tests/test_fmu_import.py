"""FMUs as models: an FMU that daedal exports and reads again gives the trajectory of the model, by itself and inside another model.

Random plants (stable linear states, an output with feedthrough, a Boolean input, state events and time events) are exported for
both versions. The FMU is run by model exchange and by co-simulation, also as one that cannot save its state, and in a loop with an
algebraic equation. Then archives are damaged in every way: they are refused by name, never crash, and leave no files in the temporary folder."""
import csv
import io
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

DAEDAL = os.environ["DAEDAL"]
LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"
FAILURES = []


def check(ok, what):
    if not ok:
        FAILURES.append(what)
        print("failed:", what)


def run(folder, *arguments):
    return subprocess.run([DAEDAL, *map(str, arguments)], cwd=folder, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "TMPDIR": str(folder / "unpacked")})


def rows(text):
    names, *lines = csv.reader(io.StringIO(text))
    return {name: [float(line[k]) for line in lines] for k, name in enumerate(names)}


def plant(chance, name):
    n = chance.randint(1, 3)
    states = "".join(f"  Real x{k}(start = {chance.uniform(-1, 1):.3f}, fixed = true);\n" for k in range(n))
    equations = "".join(f"  der(x{k}) = -{chance.uniform(0.5, 3):.3f}*x{k} + {chance.uniform(-1, 1):.3f}*x{(k + 1) % n} + "
                        f"(if on then gain*u else 0);\n" for k in range(n))
    return (f"block {name}\n  input Real u(start = 0.5);\n  input Boolean on(start = true);\n  output Real y;\n"
            f"  parameter Real gain = {chance.uniform(0.5, 2):.3f};\n  output Integer n(start = 0, fixed = true);\n"
            f"  Boolean high;\n{states}equation\n{equations}  y = x0 + {chance.uniform(0.2, 0.8):.3f}*u;\n  high = x0 > {chance.uniform(-0.2, 0.2):.3f};\n"
            f"  when {{time >= {chance.uniform(0.1, 0.4):.4f}, high}} then\n    n = pre(n) + 1;\n  end when;\n"
            f"  annotation(experiment(StopTime = 1, Tolerance = 1e-8));\nend {name};\n")


def loop(name, gain):
    """The plant fed back through its own output: an algebraic loop through the FMU."""
    return (f"model Loop\n  {name} p(gain = {gain:.3f});\nequation\n  p.u = sin(3*time) - 0.7*p.y;\n  p.on = time < 0.6;\n"
            f"  annotation(experiment(StopTime = 1, Tolerance = 1e-8));\nend Loop;\n")


def compare(one, other, names, tolerance, what):
    for name in names:
        a, b = one[name][-1], other[name][-1]
        check(abs(a - b) <= tolerance * (1 + abs(b)), f"{what}: {name} ends at {a}, not at {b}")


def without_saving(source, target):
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "modelDescription.xml":
                content = content.replace(b'canGetAndSetFMUState="true"', b"").replace(b'canGetAndSetFMUstate="true"', b"")
            out.writestr(name, content)


def test_plants(folder, count):
    for seed in range(count):
        chance = random.Random(seed)
        text, version, gain = plant(chance, "Plant"), 2 + seed % 2, chance.uniform(0.5, 2)
        (folder / "Plant.mo").write_text(text)
        (folder / "fmu").mkdir(exist_ok=True)
        fmu = folder / "fmu" / "Plant.fmu"
        done = run(folder, "export", "Plant.mo", "--fmu", fmu, "--fmi", version)
        check(done.returncode == 0, f"{seed}: export: {done.stderr}")
        without_saving(fmu, folder / "fmu" / "unsaved.fmu")
        begin = chance.uniform(-1, 1)
        own = run(folder, "simulate", "Plant.mo", "-o", "-", "-q", "--override", f"gain={gain},x0={begin}")
        for file, kind in ((fmu, "me"), (fmu, "cs"), (folder / "fmu" / "unsaved.fmu", "me")):
            done = run(folder, "simulate", file, "--kind", kind, "--allow-external", "-o", "-", "-q", "--override", f"gain={gain},{'x0' if kind == 'me' else 'start(x0)'}={begin}")
            check(done.returncode == 0, f"{seed}: simulate --kind {kind}: {done.stderr}")
            if done.returncode == 0:
                compare(rows(done.stdout), rows(own.stdout), ["y", "n", "high"], 1e-6, f"{seed}: {kind}")
        (folder / "whole.mo").write_text(text + loop("Plant", gain))
        (folder / "loop.mo").write_text(loop("Plant", gain))
        own = run(folder, "simulate", "whole.mo", "-o", "-", "-q")
        (folder / "named.mo").write_text(loop("Other", gain))
        for model, words in (("loop.mo", ["--library", fmu]), ("named.mo", ["--fmu", f"Other={fmu}"])):
            done = run(folder, "simulate", model, *words, "--allow-external", "-o", "-", "-q")
            check(done.returncode == 0, f"{seed}: in a loop: {done.stderr}")
            if done.returncode == 0:
                compare(rows(done.stdout), rows(own.stdout), ["p.y", "p.n", "p.u"], 1e-6, f"{seed}: in a loop")


def test_end(folder):
    """An FMU that ends the simulation ends the run: FMI 2.0 says so by a discarded step."""
    (folder / "Ends.mo").write_text("model Ends Real x(start = 0, fixed = true); equation der(x) = 1; when x > 0.55 then terminate(\"enough\"); end when; "
                                    "annotation(experiment(StopTime = 1, Interval = 0.1)); end Ends;")
    for version in "23":
        done = run(folder, "export", "Ends.mo", "--fmu", "Ends.fmu", "--fmi", version, "-q")
        check(done.returncode == 0, done.stderr)
        for kind in ("me", "cs"):
            done = run(folder, "simulate", "Ends.fmu", "--allow-external", "--kind", kind, "-o", "-", "-q")
            last = rows(done.stdout)["time"][-1] if done.returncode == 0 else None
            check(last is not None and 0.55 <= last <= 0.61, f"an end by terminate, FMI {version} {kind}: {last} {done.stderr}")


def test_leave(folder):
    done = run(folder, "simulate", folder / "fmu" / "Plant.fmu", "-o", "-")
    check(done.returncode == 3 and "--allow-external" in done.stderr, f"without leave: {done.returncode} {done.stderr}")
    done = run(folder, "flatten", folder / "fmu" / "Plant.fmu")
    check(done.returncode == 0 and "daedal_fmu_open" in done.stdout, f"flatten needs no leave: {done.stderr}")


def test_damage(folder, count):
    """Bytes of the archive and of the description changed, cut off, repeated."""
    whole = (folder / "fmu" / "Plant.fmu").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        description = archive.read("modelDescription.xml")
    chance = random.Random(1)
    for k in range(count):
        data, is_text = (bytearray(description), True) if k % 2 else (bytearray(whole), False)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            if chance.random() < 0.3:
                del data[at:at + chance.randint(1, 200)]
            elif chance.random() < 0.3:
                data[at:at] = data[at:at + chance.randint(1, 200)]
            else:
                data[at] = chance.randrange(256)
            if not data:
                break
        target = folder / "damaged.fmu"
        if is_text:
            with zipfile.ZipFile(target, "w") as out:
                out.writestr("modelDescription.xml", bytes(data))
        else:
            target.write_bytes(bytes(data))
        done = run(folder, "flatten", target)
        check(done.returncode in (0, 3, 7) and "Sanitizer" not in done.stderr, f"damage {k}: {done.returncode} {done.stderr[-300:]}")
    for name in ("../out.so", "/etc/out.so", "binaries/../../out.so"):
        with zipfile.ZipFile(folder / "fmu" / "Plant.fmu") as archive, zipfile.ZipFile(folder / "out.fmu", "w") as out:
            for entry in archive.namelist():
                out.writestr(entry, archive.read(entry))
            out.writestr("binaries/" + name, b"x") if name.startswith("..") else out.writestr(name, b"x")
        done = run(folder, "simulate", "out.fmu", "--allow-external", "-o", "-", "-q")
        check(not (folder / "out.so").exists() and not (folder / "unpacked" / "out.so").exists(), f"{name} was unpacked outside")


DESCRIPTION = ('<fmiModelDescription fmiVersion="{version}" modelName="m" {token}="t" {head}><ModelExchange modelIdentifier="m"/>{before}'
               "<ModelVariables>{variables}</ModelVariables><ModelStructure/></fmiModelDescription>")


def described(folder, variables, version="3.0", head="", before="", behind=""):
    text = DESCRIPTION.format(version=version, token="guid" if version == "2.0" else "instantiationToken", head=head, before=before, variables=variables)
    with zipfile.ZipFile(folder / "described.fmu", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("modelDescription.xml", text + behind)
    return run(folder, "flatten", "described.fmu", "--limits", "work=20M,text=2M")


def test_descriptions(folder):
    """Numbers of a description that are not sizes, or too large."""
    array = '<Float64 name="x" valueReference="1" {}>{}</Float64>'
    for sizes in (["0.5", "4"], ["-2", "-2"], ["1e300", "1e-300"], ["nan"], ["1e10"], [""], ["1"] * 17):
        done = described(folder, array.format("", "".join(f'<Dimension start="{size}"/>' for size in sizes)))
        check(done.returncode == 7 and "`x` has no size" in done.stderr, f"dimensions {sizes}: {done.returncode} {done.stderr}")
    for sizes in (["1", "0"], ["0", "5"]):
        done = described(folder, array.format("", "".join(f'<Dimension start="{size}"/>' for size in sizes)))
        check(done.returncode == 0, f"dimensions {sizes}: {done.returncode} {done.stderr}")
        done = described(folder, '<ScalarVariable name="x" valueReference="1"><Real>' + "".join(f'<Dimension start="{size}"/>' for size in sizes) + "</Real></ScalarVariable>", "2.0")
        check(done.returncode == 0 and "Real 'x'" in done.stdout, f"dimensions of FMI 2 {sizes}: {done.returncode} {done.stderr}")
    for text, values in (("1 2 3", ["1", "2", "3"]), (" 7  8 ", ["7", "8", "0"]), ("4", ["4", "4", "4"]), ("1 x 3", ["1", "0", "3"])):
        done = described(folder, array.format(f'causality="parameter" start="{text}"', '<Dimension start="3"/>'))
        found = re.findall(r"parameter Real 'x\[\d\]' = (\S+);", done.stdout)
        check(found == values, f"start values {text!r}: {found} {done.stderr}")
    for text, value in (("true", "true"), ("1", "true"), ("false", "false"), ("0", "false")):
        done = described(folder, f'<Boolean name="b" valueReference="1" causality="parameter" start="{text}"/>')
        check(f"parameter Boolean 'b' = {value};" in done.stdout, f"start value {text}: {done.stdout} {done.stderr}")
    many = array.format('causality="parameter" start="' + "1 " * 30000 + '"', '<Dimension start="30000"/>')
    check(described(folder, many).returncode == 3, "a long list of start values")
    many = "".join(f'<Float64 name="x{k}" valueReference="{k}"><Dimension start="1000000"/></Float64>' for k in range(100))
    check(described(folder, many).returncode == 3, "arrays of a million elements")
    done = described(folder, "", before='<DefaultExperiment startTime="-1e308" stopTime="1e308" tolerance="1e999" stepSize="inf"/>')
    check(done.returncode == 0 and not re.search(r"\b(inf|nan)\b", done.stdout), f"an experiment without end: {done.stderr}")
    done = described(folder, "", behind=" " * 3000000)
    check(done.returncode == 3 and "--limits text" in done.stderr, f"a long description: {done.returncode} {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "unpacked").mkdir()
        test_plants(folder, 40 if LONG else 2)
        test_end(folder)
        test_leave(folder)
        test_descriptions(folder)
        test_damage(folder, 2000 if LONG else 60)
        check(not list((folder / "unpacked").iterdir()), "unpacked files are left behind")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
