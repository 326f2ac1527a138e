"""Builds the wheel: the package, and the library in it (PEP 517). The library is DAEDAL_LIBRARY, or that of the source tree around,
which is built if it is not there."""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sysconfig
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[1]
ROOT = HERE.parent


def version():
    header = (ROOT / "include" / "daedal.h").read_text()
    return re.search(r'DAEDAL_VERSION "([^"]+)"', header)[1]


def library():
    if os.environ.get("DAEDAL_LIBRARY"):
        return pathlib.Path(os.environ["DAEDAL_LIBRARY"]).resolve()
    built = ROOT / "build" / "libdaedal.so"
    if not built.exists():
        subprocess.run(["make", "-C", str(ROOT), "build"], check=True)
    return built.resolve()


def metadata():
    return (f"Metadata-Version: 2.1\nName: daedal\nVersion: {version()}\n"
            "Summary: Differential-algebraic equations, compiled and solved\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\n")


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def contents():
    """Path in the wheel: bytes."""
    info = f"daedal-{version()}.dist-info"
    package = sorted([*(HERE / "daedal").glob("*.py"), HERE / "daedal" / "py.typed"])
    files = {f"daedal/{path.name}": path.read_bytes() for path in package}
    files["daedal/libdaedal.so"] = library().read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: daedal\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    return info, files


def record(files, info):
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info, files = contents()
    files[f"{info}/RECORD"] = record(files, info).encode()
    name = f"daedal-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"daedal-{version()}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(HERE, arcname=name)
    return f"{name}.tar.gz"
