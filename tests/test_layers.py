"""tools/check_layers and tools/check_constants must accept good trees and name each kind of violation."""
import os
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(os.environ["SOURCE_DIR"]) / "tools/check_layers"

BASE = {"src/base/vec.h": "", "src/expr/dag.h": '#include "base/vec.h"\n', "src/run/run.h": "", "include/daedal.h": ""}

# A function that makes expressions, a function that calls it, and one of the functions that may do so.
MAKERS = {"src/expr/dag.h": "Expr dag_add(Dag *dag, Expr a, Expr b);\n", "src/model/print.c": "void model_text(void) { dag_add(); }\n",
          "src/code/code.c": "void code(void) { dag_add(); }\n"}

# (what, further files, what the message must contain; None: no violation)
CASES = [
    ("downwards", {"src/run/run.c": '#include "run/run.h"\n#include "expr/dag.h"\n#include <klu.h>\n'}, None),
    ("the root sees all", {"src/api.c": '#include "daedal.h"\n#include "run/run.h"\n#include "pipeline.h"\n',
                           "src/pipeline.h": ""}, None),
    ("upwards", {"src/expr/dag.c": '\n#include "run/run.h"\n'}, "src/expr/dag.c:2"),
    ("upwards to the root", {"src/run/run.c": '#include "pipeline.h"\n', "src/pipeline.h": ""}, "src/run/run.c:1"),
    ("structure knows base alone", {"src/structure/graph.c": '#include "expr/dag.h"\n'}, "structure may not include"),
    ("structure knows no interface", {"src/structure/graph.c": '#include "daedal.h"\n'}, "src/structure/graph.c:1"),
    ("the command knows the interface", {"src/cli/main.c": '#include "daedal.h"\n#include "cli/args.h"\n',
                                         "src/cli/args.h": ""}, None),
    ("the command knows nothing else", {"src/cli/main.c": '#include "base/vec.h"\n'}, "cli may not include"),
    ("nobody knows the command", {"src/api.c": '#include "cli/args.h"\n', "src/cli/args.h": ""}, "src/api.c:1"),
    ("SUNDIALS in its wrapper", {"src/integrate/ida.c": "#include <ida/ida.h>\n"}, None),
    ("SUNDIALS elsewhere", {"src/integrate/radau.c": "#  include <sunmatrix/sunmatrix_sparse.h>\n"}, "src/integrate/radau.c:1"),
    ("path not from src/", {"src/base/vec.c": '#include "vec.h"\n'}, "includes are written from src/"),
    ("calls one way", {"src/base/a.c": "void a(void) { b(); }\n", "src/base/b.c": "void b(void) {}\nstatic void a(void) {}\n"}, None),
    ("calls in a circle", {"src/base/a.c": "void a(void) { b(); }\n", "src/base/b.c": "int b(int x) {\n  return a() + x;\n}\n"},
     "src/base/a.c"),
    ("named in a comment", {"src/base/a.c": "void a(void) { b(); }\n", "src/base/b.c": "void b(void) {} /* as a */\n"}, None),
    ("calls by a macro", {"src/base/a.c": "#define CASE(x) step_##x();\nvoid a(void) { CASE(b) }\n",
                          "src/base/b.c": "void step_b(void) { a(); }\n"}, "call each other"),
    ("headers in a circle", {"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/a.h"\n'}, "include each other"),
    ("a run makes expressions", MAKERS | {"src/run/run.c": "static void go(void) {\n  code();\n}\n"}, "dag_add, called by code"),
    ("a message makes expressions", MAKERS | {"src/run/run.c": "void go(void) { model_text(); }\n"}, None),
    ("a plan makes expressions", MAKERS | {"src/run/run.c": "void go(void) {}\nvoid turning_plan(void) { code(); }\n"}, None),
    ("unknown folder", {"src/misc/a.c": ""}, "src/misc is not a layer"),
]

CONSTANTS = CHECK.parent / "check_constants"
ROW = 'NUMBER(SAFETY, 0.9, "of the step", "errors are estimates", "choice")\n'

CONSTANT_CASES = [
    ("in the table", {"src/run/run.c": "double x = SAFETY * y + 0.5; /* 0.3 */\n"}, None),
    ("a tolerance outside", {"src/run/run.c": "if (x < 1e-9 * SAFETY) return;\n"}, "src/run/run.c:1: 1e-9"),
    ("a limit outside", {"src/run/run.c": "enum { LIMIT = 30 }; /* SAFETY */\n"}, "src/run/run.c:1: LIMIT = 30"),
    ("without a source", {"src/run/run.c": "SAFETY\n", "src/core/constants.def": ROW.replace('"choice"', '""')}, "needs unit, reason and source"),
    ("not used", {"src/run/run.c": ""}, "SAFETY is not used"),
]


def run_case(files, expected):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (BASE | files).items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([CHECK, folder], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if expected is None:
        return done.returncode == 0 and not lines
    return done.returncode == 1 and len(lines) == 1 and expected in lines[0]


def run_constant_case(files, expected):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ({"src/core/constants.def": ROW, "src/core/edges.c": "", "src/core/edges.h": ""} | files).items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([CONSTANTS, folder], capture_output=True, text=True)
    lines = done.stdout.splitlines()[:-1]
    if expected is None:
        return done.returncode == 0 and not lines
    return done.returncode == 1 and len(lines) == 1 and expected in lines[0]


def main():
    failed = [what for what, files, expected in CASES if not run_case(files, expected)]
    failed += [what for what, files, expected in CONSTANT_CASES if not run_constant_case(files, expected)]
    for what in failed:
        print("failed:", what)
    print(f"{len(CASES) + len(CONSTANT_CASES) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
