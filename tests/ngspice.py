"""Runs ngspice on a netlist, for tests and benchmarks that compare with it."""
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile

NGSPICE = shutil.which("ngspice")


SECONDS = 60  # seconds of processor time for a run


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
    """The netlist with a tight tolerance; if its stop time is a number, the step is also limited to a part of the run."""
    options, lines = f".options reltol={reltol} vntol=1e-8", []
    for line in text.splitlines():
        words = line.split()
        card = words[0].lower() if words else ""
        if card == ".tran" and len(words) > 2 and re.match(r"[-+.0-9]", words[2]):
            times = [word for word in words[1:5] if re.match(r"[-+.0-9]", word)]
            longest = min([spice_number(words[2]) / parts, *map(spice_number, times[3:])])
            rest = " uic" if words[-1].lower() == "uic" else ""
            line = f".tran {words[1]} {words[2]} {times[2] if len(times) > 2 else 0} {longest:.17g}{rest}"
        if card == ".end":
            break
        lines.append(line)
    return "\n".join([*lines, options, ".end"]) + "\n"


def read_plot(data, at):
    """The name and the signals of the plot that begins there in a raw file, and where it ends."""
    ends = [(data.find(marker, at), marker) for marker in (b"Binary:\n", b"Values:\n")]
    header_end, marker = min((place, marker) for place, marker in ends if place >= 0)
    header, values_at = data[at:header_end].decode("latin-1"), header_end + len(marker)
    count = int(re.search(r"No\. Variables: *(\d+)", header).group(1))
    points = int(re.search(r"No\. Points: *(\d+)", header).group(1))
    names = [line.split()[1] for line in header[header.index("Variables:\n") + 11:].splitlines()[:count]]
    if marker == b"Binary:\n":
        parts = 2 if re.search(r"Flags:.*complex", header) else 1
        end = values_at + 8 * parts * count * points
        values = struct.unpack(f"<{parts * count * points}d", data[values_at:end])[::parts]
    else:
        end = data.find(b"Title:", values_at)
        end = end if end >= 0 else len(data)
        values = [float(word.split(b",")[0]) for k, word in enumerate(data[values_at:end].split()) if k % (count + 1)]
    plot = re.search(r"Plotname: *(.*)", header)
    return plot.group(1) if plot else "", {name: values[k::count] for k, name in enumerate(names)}, end


def read_raw(path):
    """Signals of a raw file, binary or ASCII, by name; the first is time. If there are several plots: those of the transient analysis."""
    with open(path, "rb") as file:
        data = file.read()
    plot, signals, end = read_plot(data, 0)
    while "Transient" not in plot and end < len(data):
        plot, signals, end = read_plot(data, end)
    return signals


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
