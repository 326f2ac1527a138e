"""Packages: a wheel whose command and library need only the C library, installed into an empty virtual environment; one version
everywhere; and CONTRIBUTING.md names files that exist."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])
KIND = os.environ.get("BUILD_KIND")


def versions():
    found = {name: re.search(pattern, (SOURCE / name).read_text())[1] for name, pattern in (
        ("CMakeLists.txt", r"project\(daedal VERSION ([\d.]+)"), ("include/daedal.h", r'DAEDAL_VERSION "([^"]+)"'),
        ("CITATION.cff", r"(?m)^version: (\S+)"), ("packaging/conda/meta.yaml", r'set version = "([^"]+)"'))}
    assert len(set(found.values())) == 1, found


def paths_exist():
    """Every word in code font that looks like a path exists; so does every make target."""
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`((?:src|tests|docs|tools|python|include|packaging)(?:/[\w./]+)?|[A-Z]\w+(?:\.\w+)?)`", text))
    assert len(paths) > 30, paths
    missing = [path for path in paths if not (SOURCE / path).exists()]
    assert not missing, missing
    makefile = (SOURCE / "Makefile").read_text()
    for target in re.findall(r"`make (\w+)`", text):
        assert re.search(rf"^{target}:", makefile, re.M), target


def load_backend():
    spec = importlib.util.spec_from_file_location("daedal_backend", SOURCE / "python/build_backend/daedal_backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_wheel(folder):
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "daedal_bundle"], check=True, capture_output=True)
    os.environ["DAEDAL_LIBRARY"], os.environ["DAEDAL_COMMAND"] = str(BUILD / "bundle/libdaedal.so"), str(BUILD / "daedal")
    backend = load_backend()
    return folder / backend.build_wheel(folder), backend


def wheel_is_whole(wheel, backend):
    names = zipfile.ZipFile(wheel).namelist()
    version = backend.version()
    for name in ("daedal/libdaedal.so", "daedal/__init__.py", "daedal/py.typed", f"daedal-{version}.data/scripts/daedal", f"daedal-{version}.dist-info/LICENSE"):
        assert name in names, name
    for binary in ("daedal/libdaedal.so", f"daedal-{version}.data/scripts/daedal"):
        needed = backend.needs(zipfile.ZipFile(wheel).read(binary))
        assert needed is None or all(re.match(r"lib[cm]\.so|ld-linux", name) for name in needed), (binary, needed)
    assert re.search(r"-py3-none-(manylinux_2_\d+_\w+)\.whl$", wheel.name), wheel.name


def wheel_installs(wheel, folder):
    """Installs the wheel into an empty environment. NumPy, on which it depends, comes from the system, because there may be no network."""
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder / "venv"], check=True, capture_output=True)
    subprocess.run([folder / "venv/bin/python", "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel], check=True, capture_output=True)
    environment = {"PATH": f"{folder}/venv/bin:/usr/bin:/bin", "HOME": str(folder)}
    run = lambda *words: subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, cwd=folder, env=environment).stdout
    assert json.loads(run("daedal", "simulate", SOURCE / "examples/pendulum.mo", "-o", "p.csv", "--json"))["status"] == "ok"
    said = run("python", "-c", f"import daedal; r = daedal.simulate({str(SOURCE / 'examples/pendulum.mo')!r}); print(daedal.__file__, r.rows)")
    assert str(folder) in said and said.split()[-1] == "501", said


def main():
    versions()
    paths_exist()
    if KIND in ("asan", "tsan"):  # there is no wheel of these builds
        return
    if os.environ.get("DAEDAL_TEST_TIER") != "long":  # test_python.py installs a wheel, too
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wheel, backend = build_wheel(folder)
        wheel_is_whole(wheel, backend)
        wheel_installs(wheel, folder)


if __name__ == "__main__":
    main()
