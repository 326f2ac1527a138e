#!/usr/bin/env python3
"""The files that a model may read: those of its folder, of libraries and of --allow-read, by real paths. It reads nothing that
is not a file, and the contents of other files appear nowhere."""
import os
import pathlib
import subprocess
import tempfile

DAEDAL = os.environ["DAEDAL"]
SECRET = "secret words of another folder"
root = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="daedal-reading-")))
calls = 0


def write(path, text):
    path = root / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def run(*arguments, status, cwd=root, said=""):
    global calls
    calls += 1
    done = subprocess.run([DAEDAL, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, DAEDAL_SECRET=SECRET))
    everything = done.stdout + done.stderr
    wanted = status if isinstance(status, tuple) else (status,)
    assert done.returncode in wanted, (arguments, done.returncode, everything)
    assert SECRET not in everything and "secret" not in everything.replace("secret.", ""), (arguments, everything)
    assert said in everything, (arguments, said, everything)
    return done


# Functions of the standard library that read: a call that gives an Integer, for any contents of the file.
FUNCTIONS = {
    "ModelicaInternal_countLines": ("input String f; output Integer n;", "n = ModelicaInternal_countLines(f)"),
    "ModelicaInternal_stat": ("input String f; output Integer n;", "n = ModelicaInternal_stat(f)"),
    "ModelicaInternal_readLine": ("input String f; output String s; output Boolean e;", "s = ModelicaInternal_readLine(f, 1, e)"),
    "ModelicaInternal_readFile": ("input String f; output String s[1];", "ModelicaInternal_readFile(f, s, 1)"),
    "ModelicaInternal_getNumberOfFiles": ("input String f; output Integer n;", "n = ModelicaInternal_getNumberOfFiles(f)"),
    "ModelicaInternal_readDirectory": ("input String f; output String s[1];", "ModelicaInternal_readDirectory(f, 1, s)"),
    "ModelicaIO_readMatrixSizes": ("input String f; output Integer n[2];", 'ModelicaIO_readMatrixSizes(f, "m", n)'),
    "ModelicaIO_readRealMatrix": ("input String f; output Real m[1, 1];", 'ModelicaIO_readRealMatrix(f, "m", m, 1, 1, false)'),
}
FOLDERS = {"ModelicaInternal_getNumberOfFiles", "ModelicaInternal_readDirectory"}


def model(function, file):
    declarations, call = FUNCTIONS[function]
    output = declarations.split("output ")[1].split(";")[0]
    kind, name = output.split(" ", 1)
    size = "[" + name.split("[")[1] if "[" in name else ""
    return f"""model M
  function f {declarations} external "C" {call}; end f;
  parameter {kind} p{size} = f("{file}");
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
end M;
"""


inside = write("own/data.txt", "#1\ndouble m(1,1)\n7\n")
outside = write("other/secret.txt", SECRET + "\n")
write("lib/L/package.mo", "package L constant Real c = 2; end L;")
write("lib/L/Resources/table.txt", "#1\ndouble m(1,1)\n5\n")
(root / "own/link.txt").symlink_to(outside)
(root / "own/folder").symlink_to(root / "other")
(root / "own/dangling").symlink_to(root / "other/nowhere")
os.mkfifo(root / "own/pipe")

# Every function, with a path inside the folders and with every kind of path outside.
ways = [outside, "../other/secret.txt", root / "own/link.txt", root / "own/folder/secret.txt", root / "own/../other/secret.txt",
        root / "lib/L/../../other/secret.txt", "/dev/zero", "/proc/self/environ", "/etc/passwd", root / "other/nowhere.txt",
        root / "own/gone/../../other/secret.txt", root / "ownership", "", "/"]
for function in FUNCTIONS:
    path = write("own/M.mo", model(function, root / "own" if function in FOLDERS else inside))
    run("check", path, status=0)
    run("simulate", path, "--quiet", "--output-file", root / "M.csv", status=0)
    for way in ways:
        if way == "" and function == "ModelicaInternal_stat":
            continue
        write("own/M.mo", model(function, way))
        run("check", path, status=3, cwd=root / "own", said="--allow-read DIR lets it be read" if way else "")
write("own/M.mo", model("ModelicaInternal_countLines", outside))
run("check", "M.mo", status=3, cwd=root / "own")
run("check", "M.mo", "--allow-read", root / "other", status=0, cwd=root / "own")
run("check", "M.mo", "--allow-read", "../lib", "--allow-read=../other", status=0, cwd=root / "own")
run("check", "M.mo", "--library", root / "other", status=0, cwd=root / "own")
run("check", "M.mo", "--allow-external", status=0, cwd=root / "own")
run("check", "M.mo", "--allow-read", root / "oth", status=3, cwd=root / "own")
run("check", "M.mo", "--allow-read", "", status=2, cwd=root / "own")
for file in ("pipe", "folder", "dangling", "/dev/null"):
    write("own/M.mo", model("ModelicaInternal_countLines", file if file[0] == "/" else root / "own" / file))
    run("check", "own/M.mo", status=3)
write("own/M.mo", model("ModelicaInternal_countLines", root / "lib/L/Resources/table.txt"))
run("check", "own/M.mo", "--library", "lib", status=0)
run("check", "own/M.mo", status=3)

# A class deep in a package reads files next to the outermost package.
write("lib/L/package.mo", "package L constant Real c = 2; end L;")
write("lib/L/P/package.mo", "within L; package P end P;")
write("lib/L/P/M.mo", "within L.P;\n" + model("ModelicaInternal_countLines", root / "lib/L/Resources/table.txt"))
run("check", "lib/L/P/M.mo", status=0)

# The environment.
write("own/M.mo", """model M
  function f input String n; output String s; output Boolean e; external "C" ModelicaInternal_getenv(n, 0, s, e); end f;
  parameter String s = f("DAEDAL_SECRET");
  Real x = 1;
end M;
""")
run("check", "own/M.mo", status=3, said="needs --allow-external")
run("check", "own/M.mo", "--allow-external", status=0)

# Files that netlists include and that libraries link to: their text must not appear in messages.
for card in ('.include "../other/secret.txt"', f".include {outside}", ".include link.txt", ".lib folder/secret.txt x", ".include pipe",
             ".include /dev/zero", ".include ."):
    write("own/n.cir", f"* circuit\n{card}\nR1 1 0 1\nV1 1 0 1\n.tran 1m 1\n")
    run("check", "own/n.cir", status=3)
    run("check", "n.cir", status=3, cwd=root / "own")
write("own/part.inc", "R2 1 0 1\n")
write("own/n.cir", "* circuit\n.include part.inc\nR1 1 0 1\nV1 1 0 1\n.tran 1m 1\n")
run("check", "own/n.cir", status=0)
write("other/good.inc", "R2 1 0 1\n")
write("own/n.cir", "* circuit\n.include ../other/good.inc\nR1 1 0 1\nV1 1 0 1\n.tran 1m 1\n")
run("check", "own/n.cir", status=3, said="--allow-read DIR")
run("check", "own/n.cir", "--allow-read", "other", status=0)
(root / "lib/L/Leak.mo").symlink_to(outside)
write("own/M.mo", "model M Real x = L.Leak.x; end M;")
run("check", "own/M.mo", "--library", "lib", status=(3, 7))
run("check", "--library", "lib", status=7, said="lib/L/Leak.mo` is outside")
(root / "lib/L/Leak.mo").unlink()
run("check", "--library", "lib", status=0)

# Pipes, folders and devices in place of files that the user names: the command waits for none.
write("own/M.mo", "model M input Real u; Real x(start = 1, fixed = true); parameter Real k = 1; equation der(x) = -k*x + u; end M;")
os.mkfifo(root / "pipe.csv")
os.mkfifo(root / "pipe.mat")
os.mkfifo(root / "pipe.mo")
(root / "folder.csv").mkdir()
(root / "folder.mo").mkdir()
for name in ("pipe.mo", "folder.mo", "/dev/null", "/dev/zero"):
    run("check", name, status=7)
for name in ("pipe.csv", "pipe.mat", "folder.csv", "/dev/zero"):
    run("init", "own/M.mo", "--start-values", name, "--input", "u=0", status=7)
    run("init", "own/M.mo", "--start-from", name, "--input", "u=0", status=7)
    run("fit", "own/M.mo", "--data", name, "--parameters", "k=1", "--input", "u=0", status=7)
for name in ("pipe.csv", "folder.csv"):
    run("simulate", "own/M.mo", "--input", name, status=7)
write("own/S.mo", "model S Real x(start = 1, fixed = true); parameter Real k = 1; equation der(x) = -k*x; end S;")
os.mkfifo(root / "s.csv.part")
run("sweep", "own/S.mo", "--vary", "k={1,2}", "--output-file", "s.csv", "--resume", status=7)
os.mkfifo(root / "t.csv.part")
run("simulate", "own/S.mo", "--output-file", "t.csv", "--resume", status=(0, 2, 7))
print(f"{calls} runs")
