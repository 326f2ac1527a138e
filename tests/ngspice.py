"""Runs ngspice on a netlist, for tests and benchmarks that compare with it."""
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile

NGSPICE = shutil.which("ngspice")


SECONDS = 60  # of processor time for a run


def limit_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def spice_number(text):
    """1k, 10u, 2meg as a float."""
    match = re.match(r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)([a-z]*)", text.lower())
    value, suffix = float(match.group(1)), match.group(2)
    for name, factor in (("meg", 1e6), ("t", 1e12), ("g", 1e9), ("k", 1e3), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9),
                         ("p", 1e-12), ("f", 1e-15)):
        if suffix.startswith(name):
            return value * factor
    return value


def tight(text, reltol=1e-7, parts=1000):
    """The netlist with a tight tolerance and a step limit of a part of the run."""
    lines = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].lower() == ".tran":
            stop = spice_number(words[2])
            rest = " uic" if words[-1].lower() == "uic" else ""
            line = f".tran {words[1]} {words[2]} 0 {stop / parts:.17g}{rest}"
        if words and words[0].lower() == ".end":
            line = f".options reltol={reltol} vntol=1e-8\n.end"
        lines.append(line)
    return "\n".join(lines) + "\n"


def read_raw(path):
    """Signals of a raw file, binary or ASCII, by name; the first is time."""
    with open(path, "rb") as file:
        data = file.read()
    marker = data.find(b"Binary:\n")
    header_end = marker if marker >= 0 else data.find(b"Values:\n")
    header = data[:header_end].decode("latin-1")
    count = int(re.search(r"No\. Variables: *(\d+)", header).group(1))
    points = int(re.search(r"No\. Points: *(\d+)", header).group(1))
    names = [line.split()[1] for line in header[header.index("Variables:\n") + 11:].splitlines()[:count]]
    if marker >= 0:
        values = struct.unpack(f"<{count * points}d", data[marker + 8:marker + 8 + 8 * count * points])
    else:
        words = data[header_end + 8:].split()
        values = [float(word) for k, word in enumerate(words) if k % (count + 1)]
    return {name: values[k::count] for k, name in enumerate(names)}


def run(path, text=None):
    """The signals of ngspice's run of the netlist (or of this text in its place); None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        netlist = path
        if text is not None:
            netlist = os.path.join(folder, "netlist.cir")
            with open(netlist, "w", encoding="utf-8") as file:
                file.write(text)
        raw = os.path.join(folder, "out.raw")
        subprocess.run([NGSPICE, "-b", "-r", raw, netlist], cwd=os.path.dirname(path) or ".", stdin=subprocess.DEVNULL,
                       capture_output=True, check=False, preexec_fn=limit_processor_time)
        signals = read_raw(raw) if os.path.exists(raw) else {}
        return signals if any(signals.values()) else None
