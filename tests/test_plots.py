"""Pictures: which signals they show, over which variable, on which axes and in which format."""
import os
import pathlib
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
PENDULUM = SOURCE / "examples/pendulum.mo"
ARRAY = """model M
  Real r[2](each start = 1, each fixed = true), r2, big[40];
equation
  der(r) = {-1, -2} .* r;
  r2 = 5*time;
  big = {k*time for k in 1:40};
end M;
"""

PARTS = """model Parts
  connector Pin Real v; flow Real i; end Pin;
  model Cap Pin p; Real v(start = 1, fixed = true); equation v = p.v; p.i = der(v); end Cap;
  model Res Pin p; Real u; equation u = p.v; p.i = u; end Res;
  Res r; Cap c; output Real twice; Real other;
equation
  connect(c.p, r.p); twice = 2*c.v + time; other = time;
end Parts;
"""
NETLIST = """rectifier
V1 in 0 sin(0 5 1k)
D1 in out dm
C1 out 0 10u
R1 out 0 1k
.model dm d(is=1e-14 rs=0.1 cjo=1p)
.tran 10u 1m
.end
"""


def run(folder, model, *words):
    return subprocess.run([os.environ["DAEDAL"], "simulate", str(model), "-q", *words], cwd=folder, capture_output=True, text=True)


def curves(folder, model, *words):
    """Titles of the curves, the words at the x axis, and the messages."""
    done = run(folder, model, "--plot", "p.svg", *words)
    assert done.returncode == 0, done.stderr
    text = (folder / "p.svg").read_text()
    return re.findall(r"<title>([^<]*)</title></path>", text), text, done.stderr


def choices(folder):
    model = folder / "m.mo"
    model.write_text(ARRAY)
    assert curves(folder, PENDULUM, "--plot-variables", "lambda")[0] == ["lambda"]
    assert (folder / "Pendulum.csv").read_text().startswith("time,x,")
    assert curves(folder, PENDULUM, "--variables", "x", "--plot-variables", "lambda,vy")[0] == ["vy", "lambda"]
    assert (folder / "Pendulum.csv").read_text().startswith("time,x\n")
    assert curves(folder, PENDULUM, "--variables", "x,y")[0] == ["x", "y"]
    assert curves(folder, model, "--plot-variables", "r")[0] == ["r[1]", "r[2]"]
    assert curves(folder, model, "--plot-variables", "r[1]")[0] == ["r[1]"]
    assert curves(folder, model, "--plot-variables", "r.*")[0] == ["r[1]", "r[2]", "r2"]
    assert curves(folder, model, "--plot-variables", "der(r[2])")[0] == ["der(r[2])"]
    parts, netlist = folder / "parts.mo", folder / "n.cir"
    parts.write_text(PARTS)
    netlist.write_text(NETLIST)
    assert curves(folder, parts)[0] == ["c.v", "twice"]  # not c.p.v, r.p.v or r.u, which are equal to it: c.v is differentiated
    assert curves(folder, netlist)[0] == ["v(in)", "v(out)"]  # no inner node of the diode


def nothing_matches(folder):
    for option in ("--variables", "--plot-variables", "--plot-xy"):
        done = run(folder, PENDULUM, "--plot", "p.svg", option, "x,lamda")
        assert done.returncode == 2 and "`lamda`" in done.stderr and "did you mean `lambda`" in done.stderr, done.stderr
    done = run(folder, PENDULUM, "--plot", "p.svg", "--plot-xy", "x")
    assert done.returncode == 2 and "not a pair" in done.stderr, done.stderr
    assert run(folder, PENDULUM, "--plot-xy", "x,y").returncode == 2
    assert run(folder, PENDULUM, "--plot", "p.svg", "--plot-log", "z").returncode == 2


def truncation_is_said(folder):
    model = folder / "m.mo"
    model.write_text(ARRAY)
    done = subprocess.run([os.environ["DAEDAL"], "simulate", str(model), "--plot", "p.svg", "--plot-variables", "big"], cwd=folder,
                          capture_output=True, text=True)
    assert "the picture shows 24 of 40 signals" in done.stderr, done.stderr
    assert "16 more signals are not shown" in (folder / "p.svg").read_text()


def pairs(folder):
    titles, text, _ = curves(folder, PENDULUM, "--plot-xy", "x,y", "--variables", "vx")
    assert titles == ["y"] and ">x</text>" in text and "time [s]" not in text
    assert (folder / "Pendulum.csv").read_text().startswith("time,vx\n")
    assert curves(folder, PENDULUM, "--plot-xy", "x,y; vx,vy")[0] == ["y over x", "vy over vx"]
    assert curves(folder, PENDULUM, "--plot-xy", "time,lambda")[0] == ["lambda"]
    plot = run(folder, PENDULUM, "--plot", "-", "--plot-xy", "x,y").stdout
    assert "━━ y" in plot and "time" not in plot, plot


def logarithmic(folder):
    model = folder / "m.mo"
    model.write_text(ARRAY)
    assert "10⁻" in curves(folder, model, "--plot-variables", "r", "--plot-log", "y", "--stop-time", "9")[1]
    assert "10⁻" in curves(folder, model, "--plot-variables", "r", "--plot-log", "xy")[1]


def formats(folder):
    """With librsvg the bytes have the right format; without it the message says what is missing, before any work."""
    for ending, magic in ((".png", b"\x89PNG\r\n"), (".pdf", b"%PDF-")):
        done = run(folder, PENDULUM, "--plot", "p" + ending, "--plot-xy", "x,y")
        if done.returncode == 2:
            assert "librsvg" in done.stderr and not (folder / ("p" + ending)).exists(), done.stderr
        else:
            assert done.returncode == 0 and (folder / ("p" + ending)).read_bytes().startswith(magic), done.stderr


def main():
    for test in (choices, nothing_matches, truncation_is_said, pairs, logarithmic, formats):
        with tempfile.TemporaryDirectory() as name:
            test(pathlib.Path(name))


if __name__ == "__main__":
    main()
