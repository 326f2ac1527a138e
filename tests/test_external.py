#!/usr/bin/env python3
"""External functions in models: tables in files, objects of a user's library, derivative annotations, effects, files. Tests that need no file other than the model are in cases/external."""
import cmath
import csv
import io
import math
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import zlib

DAEDAL = os.environ["DAEDAL"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="daedal-external-"))
count = 0


def run(text, *arguments, command="simulate", status=0):
    """Standard output and error of the command on a model of this text."""
    global count
    count += 1
    path = folder / f"m{count}.mo"
    path.write_text(text)
    done = subprocess.run([DAEDAL, command, str(path), *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr, text)
    return done.stdout, done.stderr


def simulate(text, *arguments):
    """Signals by name, as lists."""
    out, _ = run(text, "--quiet", "--output-file", "-", "--intervals", "20", *arguments)
    rows = list(csv.reader(io.StringIO(out)))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def near(a, b, tolerance=1e-6):
    assert abs(a - b) <= tolerance * max(1, abs(b)), (a, b)


TABLES = """
  class Table extends ExternalObject;
    function constructor
      input String fileName; input String tableName; input Real table[:,:]; input Integer columns[:];
      input Integer smoothness; input Integer extrapolation;
      output Table t;
      external "C" t = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2),
        columns, size(columns, 1), smoothness, extrapolation, false);
    end constructor;
    function destructor
      input Table t;
      external "C" ModelicaStandardTables_CombiTable1D_close(t);
    end destructor;
  end Table;
  function value
    input Table t; input Integer column; input Real u; output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, column, u);
    annotation(derivative = slope);
  end value;
  function slope
    input Table t; input Integer column; input Real u; input Real du; output Real dy;
    external "C" dy = ModelicaStandardTables_CombiTable1D_getDerValue(t, column, u, du);
  end slope;
"""


def package(model, functions=TABLES):
    return f"package P\n{functions}\n{model}\nend P;\n"


# A table from a file whose name is a parameter; errors in the file are reported.
(folder / "t.txt").write_text("#1\ndouble tab(3,2)\n0 0\n1 2\n3 6\n")
FILE = package("""
  model M
    parameter String file = "t.txt";
    parameter Table t = Table(file, "tab", fill(0.0, 0, 2), {2}, 1, 1);
    Real y = value(t, 1, time);
  end M;""")
near(simulate(FILE)["y"][-1], 2)
_, errors = run(FILE.replace('"t.txt"', '"absent.txt"'), status=3)
assert "absent.txt" in errors, errors
_, errors = run(FILE.replace('"tab"', '"bat"'), status=3)
assert "`bat`" in errors and "t.txt" in errors, errors

# A user's library: refused by name, then by each kind of argument; its objects are made and freed once per run.
SOURCE = """
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
double cube(double x) { return x * x * x; }
double cube_rate(double x, double rate) { return 3 * x * x * rate; }
void ends(const double *v, size_t n, double *first, double *last) { *first = v[0]; *last = v[n - 1]; }
int plus(int a, int b) { return a + b; }
void transpose(const double *a, size_t m, size_t n, double *b) {
  for (size_t i = 0; i < m; i++) for (size_t j = 0; j < n; j++) b[j * m + i] = a[i * n + j];
}
const char *pick(const char *const *list, size_t n, int i) { return (size_t)i <= n ? list[i - 1] : ""; }
void *gain_new(double k) { double *g = malloc(sizeof *g); *g = k; FILE *f = fopen("log", "a"); fputs("new ", f); fclose(f); return g; }
double gain_apply(void *g, double x) { return *(double *)g * x; }
void gain_free(void *g) { free(g); FILE *f = fopen("log", "a"); fputs("free ", f); fclose(f); }
"""
(folder / "own.c").write_text(SOURCE)
subprocess.run(["cc", "-shared", "-fPIC", "-o", "own.so", "own.c"], cwd=folder, check=True)
OWN = package("""
  function cube input Real x; output Real y; external "C" y = cube(x); annotation(derivative = rate); end cube;
  function rate input Real x; input Real dx; output Real y; external "C" y = cube_rate(x, dx); end rate;
  function bare input Real x; output Real y; external "C" y = cube(x); end bare;
  function ends input Real v[:]; output Real a; output Real b; external "C" ends(v, size(v, 1), a, b); end ends;
  function plus input Integer a; input Integer b; output Integer c; external; end plus;
  function transposed input Real a[:,:]; output Real b[size(a, 2), size(a, 1)];
    external "C" transpose(a, size(a, 1), size(a, 2), b); end transposed;
  function pick input String s[:]; input Integer i; output String t; external "C" t = pick(s, size(s, 1), i); end pick;
  class Gain extends ExternalObject;
    function constructor input Real k; output Gain g; external "C" g = gain_new(k); end constructor;
    function destructor input Gain g; external "C" gain_free(g); end destructor;
  end Gain;
  function apply input Gain g; input Real x; output Real y; external "C" y = gain_apply(g, x); end apply;
  model M
    parameter Gain g = Gain(3);
    parameter Integer five = plus(2, 3);
    Real a(start = 1), b(start = 1), rate_a = der(a), c, d, e[2, 3] = transposed([1, 2; 3, time; 5, 6]);
    Real x(start = 1, fixed = true), f = five, h = if pick({"u", "v"}, 2) == "v" then 1 else 2;
  equation
    cube(a) = 1 + time;
    bare(b) = 1 + time;
    (c, d) = ends({time, 5, 2*time});
    der(x) = -apply(g, x);
  end M;""", "")
_, errors = run(OWN, status=3)
assert "--allow-external LIBRARY" in errors, errors
found = simulate(OWN, "--allow-external", "own.so", "--stop-time", "1")
for k, t in enumerate(found["time"]):
    near(found["a"][k], (1 + t) ** (1 / 3), 1e-9)
    near(found["b"][k], (1 + t) ** (1 / 3), 1e-9)
    near(found["rate_a"][k], (1 + t) ** (-2 / 3) / 3, 1e-9)
    near(found["x"][k], math.exp(-3 * t), 1e-4)
    near(found["d"][k], 2 * t)
    near(found["e[2,2]"][k], t)
    assert found["f"][k] == 5 and found["h"][k] == 1 and found["e[1,3]"][k] == 5
log = (folder / "log").read_text().split()
assert log.count("new") == log.count("free") > 0, log
_, errors = run(OWN, "--allow-external", "absent.so", status=7)
assert "absent.so" in errors, errors

# Nothing is written, removed or run unless the user allows it; printed text is reported.
EFFECT = package("""
  impure function remove input Real x; output Real y;
  protected
    function unlink input String s; external "C" ModelicaInternal_removeFile(s); end unlink;
  algorithm
    unlink("victim");
    y := x;
  end remove;
  function tell input Real x; output Real y;
  protected
    function print input String s; input String f; external "C" ModelicaInternal_print(s, f); end print;
  algorithm
    print("so far", "");
    y := x;
  end tell;
  model M Real y = %s(time); end M;""", "")
(folder / "victim").write_text("here")
run(EFFECT % "remove", status=5)
assert (folder / "victim").exists()
out, errors = run(EFFECT % "tell", "--output-file", "out.csv")
assert "so far" in errors and "so far" not in out, (out, errors)

# The Fourier transform: numbers of samples with factors of all kinds, against its definition. The samples pass through a function in a when that fires once. Written as equations, the
# function would be one sum per sample, and each sum would have a term per sample.
FOURIER = """package P
  function transform
    input Real u[:]; output Integer info; output Real amplitudes[div(size(u, 1), 2) + 1]; output Real phases[div(size(u, 1), 2) + 1];
    protected Real work[3*size(u, 1) + 2*(div(size(u, 1), 2) + 1)];
    external "C" info = ModelicaFFT_kiss_fftr(u, size(u, 1), work, size(work, 1), amplitudes, phases);
  end transform;
  function centred
    input Real u[:]; output Integer info; output Real amplitudes[div(size(u, 1), 2) + 1]; output Real phases[div(size(u, 1), 2) + 1];
  algorithm
    (info, amplitudes, phases) := transform(u - fill(sum(u)/size(u, 1), size(u, 1)));
  end centred;
  model M
    parameter Integer n = %d;
    Real u[n](start = {cos(3*i) + 0.1*mod(i*i, 7) for i in 1:n}, each fixed = true);
    Real a[div(n, 2) + 1](each start = 0, each fixed = true), p[div(n, 2) + 1](each start = 0, each fixed = true);
    Integer info(start = 9, fixed = true), ticks(start = 0, fixed = true);
  algorithm
    when sample(0.01, 0.01) then
      ticks := pre(ticks) + 1;
      u[1] := pre(u[1]) + 0;
    end when;
    when time > 0.5 then
      (info, a, p) := centred(u);
    end when;
  end M;
end P;
"""
for n in (2, 6, 14, 30, 49 * 2, 64, 2000):
    found = simulate(FOURIER % n, "--model", "P.M")
    samples = [math.cos(3 * i) + 0.1 * (i * i % 7) for i in range(1, n + 1)]
    mean = sum(samples) / n
    assert found["info"][-1] == 0
    for k in range(1, n // 2 + 1, max(1, n // 50)):
        line = sum((x - mean) * cmath.exp(-2j * math.pi * k * i / n) for i, x in enumerate(samples)) / (n // 2 + 1)
        near(found[f"a[{k + 1}]"][-1], abs(line), 1e-11)
        near(cmath.rect(1, found[f"p[{k + 1}]"][-1]) * abs(line), line, 1e-10)
assert simulate(FOURIER % 7, "--model", "P.M")["info"][-1] == 1

# Matrices of MATLAB files of level 5, plain (v6) and compressed (v7); their sizes become sizes of the model.
def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def array(name, content):
    """A matrix, or a structure of them by names."""
    if isinstance(content, dict):
        names = b"".join(field.encode().ljust(32, b"\0") for field in content)
        return element(14, element(6, struct.pack("<II", 2, 0)) + element(5, struct.pack("<ii", 1, 1)) + element(1, name.encode())
                       + struct.pack("<HHi", 5, 4, 32) + element(1, names) + b"".join(array("", field) for field in content.values()))
    numbers = [row[k] for k in range(len(content[0])) for row in content]
    return element(14, element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", len(content), len(content[0])))
                   + element(1, name.encode()) + element(9, struct.pack(f"<{len(numbers)}d", *numbers)))


def level_5(matrices, compress):
    out = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x100, 0x4D49)
    for name, content in matrices.items():
        whole = array(name, content)
        packed = zlib.compress(whole)
        out += struct.pack("<II", 15, len(packed)) + packed if compress else whole
    return out


READING = """
  impure function sizes
    input String file; input String name; output Integer dim[2];
    external "C" ModelicaIO_readMatrixSizes(file, name, dim);
  end sizes;
  impure function values
    input String file; input String name; input Integer rows; input Integer columns; output Real a[rows, columns];
    external "C" ModelicaIO_readRealMatrix(file, name, a, rows, columns, 0);
  end values;
  model M
    final parameter Integer dim[2] = sizes("read.mat", "%s");
    final parameter Real a[:, :] = values("read.mat", "%s", dim[1], dim[2]);
    Real y = sum(a[i, j]*i^j for i in 1:dim[1], j in 1:dim[2]);
  end M;
"""
drawn = random.Random(5)
for compress in (False, True):
    for rows, columns in ((1, 1), (3, 2), (2, 5), (40, 3)):
        matrices = {name: [[drawn.uniform(-9, 9) for _ in range(columns)] for _ in range(rows)] for name in ("first", "B")}
        (folder / "read.mat").write_bytes(level_5(matrices, compress))
        for name, matrix in matrices.items():
            found = simulate(READING % (name, name), "--model", "M")["y"][-1]
            near(found, sum(x * (i + 1)**(j + 1) for i, row in enumerate(matrix) for j, x in enumerate(row)), 1e-12)
nested = {"s": {"other": [[5]], "a": [[1, 2]], "s": {"a": [[3], [4]]}}}
for compress in (False, True):
    (folder / "read.mat").write_bytes(level_5(nested, compress))
    assert simulate(READING % ("s.a", "s.a"), "--model", "M")["y"][-1] == 3
    assert simulate(READING % ("s.s.a", "s.s.a"), "--model", "M")["y"][-1] == 11
    for name in ("s", "s.s", "s.b", "a", "s.a.a"):
        run(READING % (name, name), "--model", "M", status=3)
(folder / "read.mat").write_bytes(level_5({"B": [[1, 2]]}, True)[:-5])
run(READING % ("B", "B"), "--model", "M", status=3)

# The function is printed as a text that reads back to the same function.
allowed = ["--allow-external", "own.so"]
flat, _ = run(OWN, *allowed, command="flatten")
again, _ = run(flat, *allowed, command="flatten")
assert flat == again, (flat, again)

for path in folder.iterdir():
    path.unlink()
folder.rmdir()
print("external functions: fine")
