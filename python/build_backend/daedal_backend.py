"""Builds the wheel: the package, the library in it, and the command (PEP 517). The library is DAEDAL_LIBRARY, or the library of the surrounding source tree, linked with archives, which is built if it is missing. The command is DAEDAL_COMMAND, or that of the source tree if it is built."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parent


def version():
    header = (ROOT / "include" / "daedal.h").read_text()
    return re.search(r'DAEDAL_VERSION "([^"]+)"', header)[1]


def library():
    if os.environ.get("DAEDAL_LIBRARY"):
        return pathlib.Path(os.environ["DAEDAL_LIBRARY"]).resolve()
    built = ROOT / "build" / "bundle" / "libdaedal.so"
    if not built.exists():
        subprocess.run(["make", "-C", str(ROOT), "build"], check=True)
        subprocess.run(["cmake", "--build", str(ROOT / "build"), "--target", "daedal_bundle"], check=True)
    return built.resolve()


def command():
    """None if there is none."""
    if os.environ.get("DAEDAL_COMMAND"):
        return pathlib.Path(os.environ["DAEDAL_COMMAND"]).resolve()
    built = ROOT / "build" / "daedal"
    return built if built.exists() else None


def metadata():
    return (f"Metadata-Version: 2.1\nName: daedal\nVersion: {version()}\n"
            "Summary: Differential-algebraic equations, compiled and solved\n"
            "License: BSD-3-Clause\nLicense-File: LICENSE\nClassifier: License :: OSI Approved :: BSD License\n"
            "Classifier: Operating System :: POSIX :: Linux\nClassifier: Topic :: Scientific/Engineering\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\nDescription-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())


def needs(data):
    """The libraries that an ELF file needs, according to readelf; None without readelf."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            said = subprocess.run(["readelf", "-d", file.name], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))


def tag(binaries):
    """The tag as auditwheel gives it: manylinux with the newest version of the C library that a symbol requires, if no other library is needed."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    machine = {62: "x86_64", 183: "aarch64"}.get(int.from_bytes(binaries[0][18:20], "little"))  # e_machine: the library may be for another machine
    if machine and platform.startswith("linux_"):
        platform = "linux_" + machine
    system = re.compile(r"lib[cm]\.so\.6|ld-linux.*|lib(dl|pthread|rt)\.so.*")
    needed = [needs(data) for data in binaries]
    is_whole = all(found is not None and all(system.fullmatch(name) for name in found) for found in needed)
    versions = [int(found) for data in binaries for found in re.findall(rb"GLIBC_2\.(\d+)\b", data)]
    if is_whole and versions and platform.startswith("linux_"):
        platform = f"manylinux_2_{max(versions)}_" + platform[len("linux_"):]
    return "py3-none-" + platform


def contents():
    """Path in the wheel: bytes."""
    info = f"daedal-{version()}.dist-info"
    package = sorted([*(HERE / "daedal").glob("*.py"), HERE / "daedal" / "py.typed"])
    files = {f"daedal/{path.name}": path.read_bytes() for path in package}
    files["daedal/libdaedal.so"] = library().read_bytes()
    binaries = [files["daedal/libdaedal.so"]]
    if command():
        files[f"daedal-{version()}.data/scripts/daedal"] = command().read_bytes()
        binaries.append(command().read_bytes())
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: daedal\nRoot-Is-Purelib: false\nTag: {tag(binaries)}\n".encode()
    return info, files, tag(binaries)


def record(files, info):
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info, files, platform = contents()
    files[f"{info}/RECORD"] = record(files, info).encode()
    name = f"daedal-{version()}-{platform}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is built
            entry.external_attr = (0o100755 if "/scripts/" in path or path.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"daedal-{version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(HERE, arcname=name)
    return f"{name}.tar.gz"
