"""The command: exit status, outputs, messages with a caret, JSON on success and failure, files that are complete or do not exist, and help that agrees with the manual page."""
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
EXAMPLES = sorted((SOURCE / "examples").glob("*.mo"))
PENDULUM = SOURCE / "examples/pendulum.mo"
COMMANDS = ["check", "flatten", "analyze", "init", "simulate", "reduce", "compare", "linearize", "steady", "sweep", "fit", "plan", "export", "report", "plot", "diff", "fmu-check", "explain", "doctor", "completion"]

ANALYZE_KEYS = {"status", "equations", "variables", "structural_index", "dof", "differentiations", "offsets",
                "blocks", "hidden_constraints", "initial", "superfluous_differentiations", "aliases", "regular",
                "singular_blocks", "conversions", "dof_true", "index_true", "seconds"}
SIMULATE_KEYS = {"status", "method", "conversions", "solver", "solver_reason", "equations", "states", "rows", "left_out",
                 "steps", "rejected", "residual_evals", "output_evals", "jacobian_evals", "factorizations", "end_time",
                 "singular", "pivots", "events", "state_events", "time_events", "event_iterations", "replans",
                 "diagnostics", "constraint_residual", "constraint_levels", "invariants", "seconds", "final"}
INIT_KEYS = {"status", "fixed", "free", "values"}

UNBALANCED = "model M\n  Real x;\n  Real y;\nequation\n  x = time;\nend M;\n"
NO_START = "model M\n  Real x(start = 1, fixed = true);\nequation\n  x^2 = -1 - time;\nend M;\n"
# der(x) grows without bound before t = 1.
BLOWS_UP = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = x^2;\nend M;\n"
LONG_RUN = PENDULUM.read_text().replace("StopTime = 10", "StopTime = 1e7, Interval = 1000")


class Folder:
    """A separate working directory; runs the command in it."""

    def __init__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.holder.name)

    def write(self, name, text):
        (self.path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run(self, *words, **more):
        environment = dict(os.environ, **more.pop("env", {}))
        return subprocess.run([DAEDAL, *map(str, words)], cwd=self.path, capture_output="stdout" not in more,
                              text=True, env=environment, **more)

    def names(self):
        return sorted(path.name for path in self.path.iterdir())


def expect(fine, *what):
    if not fine:
        raise AssertionError("\n".join(map(str, what)))


def expect_exit(run, code):
    expect(run.returncode == code, f"exit {run.returncode}, expected {code}", run.args, run.stdout, run.stderr)
    return run


# ---- several files ----

def several_files():
    """Classes that the first file lacks come from the others, in any order and for every command; the first file comes before them."""
    part = "model Part{0} parameter Real k = {0}; Real x(start = 1, fixed = true); equation der(x) = -k*x; end Part{0};\n"
    folder = Folder()
    folder.write("main.mo", "model Part3 Real x = 7; end Part3;\nmodel Main Part1 a; Part2 b; Part3 c; end Main;\n")
    folder.write("one.mo", part.format(1) + part.format(3))
    folder.write("two.mo", part.format(2))
    folder.write("wrong.mo", "model Wrong Real x; equation x = end Wrong;\n")
    for files in (["one.mo", "two.mo"], ["two.mo", "one.mo", "main.mo"]):
        run = expect_exit(folder.run("simulate", "main.mo", *files, "-o", "-", "-q"), 0)
        last = dict(zip(run.stdout.splitlines()[0].split(","), run.stdout.splitlines()[-1].split(",")))
        found = [float(last[signal]) for signal in ("a.x", "b.x", "c.x")]
        expect(max(abs(x - y) for x, y in zip(found, (math.exp(-1), math.exp(-2), 7))) < 1e-5, f"{found}", run.args)
    expect_exit(folder.run("check", "main.mo", "one.mo", "two.mo", "--model", "Part2"), 0)
    expect_exit(folder.run("check", "main.mo", "--library", "one.mo", "--library", "two.mo"), 0)
    # a size whose names are looked up in a library while it is read
    folder.write("sizes.mo", "model Sizes Real x[2], y[size(x, 1) + integer(1)]; equation x = {1, 2}; y = {1, 2, 3}; end Sizes;\n")
    expect_exit(folder.run("check", "sizes.mo", "--library", "one.mo", "--model", "Sizes"), 0)
    for files, code in ((["one.mo"], 3), (["one.mo", "two.mo", "wrong.mo"], 3), (["one.mo", "missing.mo"], 7)):
        expect_exit(folder.run("check", "main.mo", *files), code)


# ---- usage ----

def usage_errors():
    """Each command is refused with exit 2, and does nothing; the message says what is wrong and what exists."""
    cases = [
        ([], r"usage: daedal COMMAND MODEL(.|\n)*daedal simulate pendulum.mo"),
        (["shrink", PENDULUM], r"no command 'shrink' in this version \[D200\]\n  available commands: check, "),
        (["analyse", PENDULUM], r"did you mean analyze\?"),
        (["simulat", PENDULUM], r"did you mean simulate\?"),
        (["--json", "analyze", PENDULUM], "the command comes first"),
        (["analyze"], "no model: daedal analyze MODEL"),
        (["analyze", "--json", PENDULUM], "no model(.|\n)*put --json last"),
        (["analyze", PENDULUM, "circuit.cir"], "one model at a time"),
        (["analyze", PENDULUM, "--jsn", "-"], r"no option --jsn \[D200\]\n  did you mean --json\?"),
        (["analyze", PENDULUM, "-x"], "no option -x"),
        (["check", PENDULUM, "--plot", "p.svg"], r"--plot does not belong to 'check' \[D200\]\n  it belongs to: simulate"),
        (["simulate", PENDULUM, "--method", "magic"], r"no method 'magic' in this version \[D200\]\n  available methods: .*dummy"),
        (["simulate", PENDULUM, "--method=dumy"], r"did you mean dummy\?"),
        (["simulate", PENDULUM, "--solver", "raddau"], r"did you mean radau\?"),
        (["simulate", PENDULUM, "--gradient", "lamda"], r"did you mean `lambda`\?"),
        (["simulate", PENDULUM, "--sensitivity", "G"], r"did you mean `g`\?"),
        (["simulate", PENDULUM, "--variables", "Lamda"], r"did you mean `lambda`\?"),
        (["simulate", PENDULUM, "--variables", "x,der(lambda)"], r"no signal of the run is named `der\(lambda\)`"),
        (["simulate", PENDULUM, "--plot", "p.svg", "--plot-variables", "der(lambda)"], r"no signal of the run is named `der\(lambda\)`"),
        (["linearize", PENDULUM, "--outputs", "lamda"], r"did you mean `lambda`\?"),
        (["simulate", PENDULUM, "--solver", "lsodar"], "available solvers: auto, "),
        (["simulate", PENDULUM, "--stop-time", "ten"], "--stop-time takes a number, not 'ten'"),
        (["simulate", PENDULUM, "--stop-time", "1x"], "not '1x'"),
        (["simulate", PENDULUM, "--stop-time=inf"], "not 'inf'"),
        (["simulate", PENDULUM, "--stop-time"], "--stop-time needs a value: --stop-time T"),
        (["simulate", PENDULUM, "--plot", "--compile"], "--plot needs a value"),
        (["simulate", PENDULUM, "--tolerance", "-q"], "--tolerance needs a value: --tolerance TOL"),
        (["simulate", PENDULUM, "--tolerance", "-1"], "number above zero"),
        (["simulate", PENDULUM, "--tolerance", "2"], "tolerance must be"),
        (["simulate", PENDULUM, "--tolerance", "1e-30"], "tolerance must be"),
        (["simulate", PENDULUM, "--max-step", "1e-300"], "below the round-off of time"),
        (["simulate", PENDULUM, "--intervals", "0"], "whole number"),
        (["simulate", PENDULUM, "--intervals", "1.5"], "whole number"),
        (["simulate", PENDULUM, "--intervals", "5", "--output-interval", "1"], "cannot be used together"),
        (["simulate", PENDULUM, "--output-file", "p.txt"], "ends in .csv, .mat or .raw, or -, not 'p.txt'"),
        (["simulate", PENDULUM, "--plot", "p.gif"], "ends in .svg, .png or .pdf"),
        (["simulate", PENDULUM, "--solver", "erk", "--solver", "erk"], "--solver is given twice"),
        (["simulate", PENDULUM, "--plot", "p.svg", "--plot", "./p.svg"], "--plot and --plot would write to one file"),
        (["simulate", PENDULUM, "--plot", "-", "--plot", "-"], "only one of"),
        (["simulate", PENDULUM, "--output-file", "-", "--json"], "only one of"),
        (["simulate", PENDULUM, "--compile=yes"], "takes no value"),
        (["simulate", PENDULUM, "--model="], "not empty"),
        (["simulate", PENDULUM, "--override", "nothing=1"], "nothing"),
        (["simulate", PENDULUM, "--override", "L"], "name=value"),
        (["simulate", PENDULUM, "--variables", "("], r"\("),
        (["simulate", PENDULUM, "--start-time", "5", "--stop-time", "1"], "stop time"),
        (["export", PENDULUM], "daedal export MODEL --c DIR"),
    ]
    for words, message in cases:
        folder = Folder()
        run = expect_exit(folder.run(*words), 2)
        expect(re.search(message, run.stderr), words, run.stderr, "lacks", message)
        expect(not run.stdout, words, "wrote to standard output")
        expect(not folder.names(), words, "left", folder.names())


def help_is_data():
    """Requested help goes to standard output with status 0, and names every command."""
    text = expect_exit(Folder().run("--help"), 0).stdout
    for command in COMMANDS:
        expect(re.search(rf"^  {command} ", text, re.M), command, "is not in --help")
        own = expect_exit(Folder().run(command, "--help"), 0).stdout
        expect(re.match(rf"usage: daedal {command} (MODEL|RESULT|FILE|SHELL|\[)", own), own)
        expect(own == Folder().run("help", command).stdout, "help COMMAND differs from COMMAND --help")
        for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", own, re.M):
            expect(option in text, option, "is missing in --help")
    version = Folder().run("--version").stdout
    expect(re.match(r"daedal \d+\.\d+\.\d+\n  solvers: auto, ", version), version)
    header = re.search(r'DAEDAL_VERSION "(.*)"', (SOURCE / "include/daedal.h").read_text())[1]
    expect(version.startswith(f"daedal {header}\n"), "version differs from the header")


def options_of_page(text):
    """The options that the manual page lists, each as an item of its list."""
    return {found.replace("\\-", "-") for found in re.findall(r"^\.It (?:Fl \w , )?Fl Fl ([\w\\-]+)", text, re.M)}


def manual_page_is_true():
    """docs/daedal.1 lists the options and commands of --help, no more and no less."""
    page = (SOURCE / "docs/daedal.1").read_text()
    shown = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", Folder().run("--help").stdout, re.M))
    listed = options_of_page(page)
    expect(listed == shown, "only in the page:", listed - shown, "only in --help:", shown - listed)
    expect(set(re.findall(r"^\.It Cm ([\w-]+)", page, re.M)) == set(COMMANDS), "commands of the page")
    guide = (SOURCE / "docs/command.md").read_text()
    expect(all(f"--{option}" in guide for option in shown), [o for o in shown if f"--{o}" not in guide])

    simulate = Folder().run("simulate", "--help").stdout
    for option in ("method", "solver"):
        names = re.search(rf"--{option} .*: (.*)", simulate)[1].split(", ")
        row = re.search(rf"^\| `--{option} .*", guide, re.M)[0]
        item = re.search(rf"^\.It Fl Fl {option} .*?(?=^\.It )", page, re.M | re.S)[0]
        for name in names:
            expect(f"`{name}`" in row, option, name, "is not in command.md")
            expect(re.search(rf"^\.Cm {name}\b", item, re.M), option, name, "is not in the manual page")


# The table of a report's keys, the page and the words where their documentation begins, the command.
REPORTS = [("result/analysis_report.def", "command.md", "`daedal analyze MODEL --json`", ["analyze"]),
           ("result/initial_report.def", "initialization.md", "--json", ["init"]),
           ("pipeline/run_report.def", "command.md", "`daedal simulate MODEL --json`", ["simulate", "--output-file", "x.csv"]),
           ("pipeline/reduction_report.def", "command.md", "`daedal reduce MODEL", ["reduce"]),
           ("api/sweep_report.def", "sweep.md", "--json", ["sweep", "--vary", "L=1", "--output-file", "x.csv"]),
           ("api/fit_report.def", "fit.md", "--json", ["fit", "--parameters", "L", "--data", "measured.csv"]),
           ("study/linear_report.def", "command.md", "`daedal linearize MODEL", ["linearize"]),
           ("pipeline/compare_report.def", "command.md", "`daedal compare MODEL", ["compare", "--methods", "dummy"])]


def keys_of(table, macros):
    return set(re.findall(rf"^(?:{macros})\((\w+),", (SOURCE / "src" / table).read_text(), re.M))


def reports_are_documented():
    """Every key of a report's table is documented and in the report, whether the command succeeds or not."""
    for table, page, begin, command in REPORTS:
        guide = (SOURCE / "docs" / page).read_text()
        section = guide[guide.index(begin):]
        section = section if page != "command.md" else re.split(r"\n(?=`daedal |## )", section)[0]
        keys = keys_of(table, "KEY")
        for key in keys | keys_of(table, "OPTIONAL|RUN_KEY"):
            expect(f"`{key}`" in section, table, key, "is not documented")
        for row in re.findall(r"^\| (`.*?) \|", section, re.M) if "| key |" in section else []:
            for key in re.findall(r"`(\w+)`", row):
                expect(key in keys | keys_of(table, "OPTIONAL") | {"status"}, table, key, "is documented only")
        for model, text in (("good.mo", PENDULUM.read_text()), ("unbalanced.mo", UNBALANCED), ("bad.mo", "model")):
            folder = Folder()
            folder.write(model, text)
            folder.write("measured.csv", "time,x\n0,1\n0.1,0.99\n0.2,0.97\n")
            report = json.loads(folder.run(command[0], model, *command[1:], "--json", "-").stdout)
            expect(set(report) == keys | {"status", "diagnostics"}, table, model, set(report) ^ keys)
            for run in report.get("runs") or []:
                expect(set(run) == keys_of(table, "RUN_KEY"), table, model, set(run))


def diagnostics_are_reported():
    """The report of a run has its messages with their places, from every stage."""
    for text, code, line in (("model M\n  Real x;\nequation\n  x = ;\nend M;\n", "D301", 4), (UNBALANCED, "D401", None),
                             (NO_START, "D501", None), (BLOWS_UP, "D601", None)):
        folder = Folder()
        folder.write("m.mo", text)
        run = folder.run("simulate", "m.mo", "--stop-time", "2", "--json", "-q")
        first = json.loads(run.stdout)["diagnostics"][0]
        expect(set(first) == {"severity", "code", "message", "file", "line", "column", "notes"}, first)
        expect(first["severity"] == "error" and first["code"] == code and first["file"] == "m.mo", first)
        expect(line is None or first["line"] == line, first)
        expect(first["message"] in run.stderr, first, run.stderr)


# ---- reading ----

def examples_pass_check():
    for path in EXAMPLES:
        run = expect_exit(Folder().run("check", path), 0)
        expect(not run.stdout, path.name, "wrote to standard output")
        expect(re.search(r"\d+ equations, \d+ unknowns", run.stderr), run.stderr)
        expect(not Folder().run("check", path, "-q").stderr, path.name, "is not quiet")


def flatten_reads_back():
    """The flat text of a model, read and flattened again, is the same text."""
    for path in EXAMPLES:
        folder = Folder()
        first = expect_exit(folder.run("flatten", path), 0).stdout
        folder.write("flat.mo", first)
        second = expect_exit(folder.run("flatten", "flat.mo"), 0).stdout
        expect(first == second, path.name, "differs", first, second)


def class_of_a_file():
    folder = Folder()
    folder.write("two.mo", "model A\n  Real x;\nequation\n  x = 1;\nend A;\nmodel B\n  Real y;\nequation\n  y = 2;\nend B;\n")
    expect("B:" in expect_exit(folder.run("check", "two.mo"), 0).stderr, "the last model is the default")
    expect("A:" in expect_exit(folder.run("check", "two.mo", "--model", "A"), 0).stderr, "--model A")
    expect("A:" in expect_exit(folder.run("check", "--model=A", "--", "two.mo"), 0).stderr, "--model=A --")
    run = expect_exit(folder.run("check", "two.mo", "--model", "C"), 3)
    expect("C" in run.stderr, run.stderr)
    folder.write("three.mo", "package P model Heater Real x; equation x = 1; end Heater; package Q model Valve Real y; equation y = 1; end Valve; end Q; end P;\n")
    for wrong, right in (("Heatr", "Heater"), ("P.heater", "P.Heater"), ("Vlave", "Valve"), ("P.Q.Valv", "P.Q.Valve")):
        run = expect_exit(folder.run("check", "three.mo", "--model", wrong), 3)
        expect(f"did you mean `{right}`?" in run.stderr, wrong, run.stderr)
    for wrong, right in (("connect(a.pln, b.pin)", "pin"), ("connect(a.pin, c.pin)", "cc"), ("a.speed = 1", "sped"), ("gian = 1", "gain")):
        folder.write("four.mo", "connector Pin Real v; flow Real i; end Pin; model Part Pin pin; Real sped = 1; equation pin.v = 0; end Part;\n"
                     f"model M Part a, b, cc; Real gain; equation {wrong}; end M;\n")
        run = expect_exit(folder.run("check", "four.mo"), 3)
        expect(f"did you mean `{right}`?" in run.stderr, wrong, run.stderr)
    (pathlib.Path(folder.path) / "lib" / "L" / "Sub").mkdir(parents=True)
    folder.write("lib/L/package.mo", "within ; package L end L;")
    folder.write("lib/L/Sub/package.mo", "within L; package Sub end Sub;")
    folder.write("lib/L/Sub/PI.mo", "within L.Sub; model PI Real x = 1; end PI;")
    for wrong, right in (("L.Sub.Pi", "PI"), ("L.Sup.PI", "Sub"), ("P.Q.Vlave", "P.Q.Valve")):
        inside = "" if wrong[0] == "L" else "package P package Q model Valve Real y = 1; end Valve; end Q; end P;\n"
        folder.write("user.mo", f"{inside}model M {wrong} part; end M;\n")
        run = expect_exit(folder.run("check", "user.mo", *(() if inside else ("--library", "lib"))), 3)
        expect(f"did you mean `{right}`?" in run.stderr, wrong, run.stderr)


def caret():
    """The drawing: place, line, underline; tabs and wide texts keep the caret in place."""
    folder = Folder()
    folder.write("m.mo", "model M\n\tReal x;\nequation\n\tx = foo + 1;\nend M;\n")
    run = expect_exit(folder.run("check", "m.mo"), 3)
    expect(re.match(r"m\.mo:4:6: error: [^\n]*foo[^\n]*\n     4 \| \tx = foo \+ 1;\n       \| \t    \^~~\n", run.stderr), run.stderr)
    folder.write("u.mo", "model M \"\u00fcber\"\n  Real x;\nequation\n  /* \u03c0\u03c0\u03c0 */ x = foo;\nend M;\n")
    run = expect_exit(folder.run("check", "u.mo"), 3)
    expect(re.search(r"u\.mo:4:17: error: [^\n]*\n     4 \|   /\* \u03c0\u03c0\u03c0 \*/ x = foo;\n       \| {17}\^~~\n", run.stderr), run.stderr)
    folder.write("l.mo", "model M\n  Real x;\nequation\n  x = " + "1 + " * 500 + "foo" + " + 1" * 500 + ";\nend M;\n")
    run = expect_exit(folder.run("check", "l.mo"), 3)
    drawn = run.stderr.split("\n")[1:3]
    expect(all(len(line) < 200 for line in drawn), "a long line is not cut", run.stderr)
    expect(drawn[0][drawn[1].index("^"):].startswith("foo"), "the caret left its place", run.stderr)


def several_errors():
    folder = Folder()
    folder.write("m.mo", "model M\n  Real x;\nequation\n  x = foo;\n  x = bar;\nend M;\n")
    run = expect_exit(folder.run("check", "m.mo"), 3)
    expect("m.mo:4:" in run.stderr and "m.mo:5:" in run.stderr, run.stderr)
    expect(run.stderr.endswith("2 errors\n"), run.stderr)
    quiet = expect_exit(folder.run("check", "m.mo", "-q"), 3)
    expect("foo" in quiet.stderr, "-q hides errors")


def no_colour_in_files():
    folder = Folder()
    folder.write("m.mo", "model M\n  Real x;\nequation\n  x = foo;\nend M;\n")
    for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "xterm"}):
        expect("\033" not in folder.run("check", "m.mo", env=environment).stderr, "colour without a terminal")


def on_a_terminal(words, environment):
    """The text that appears on a terminal, from standard error only."""
    import pty
    master, slave = pty.openpty()
    child = subprocess.Popen([DAEDAL, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave,
                             env=dict(os.environ, **environment))
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    child.wait()
    os.close(master)
    return text.decode()


def colour_on_a_terminal():
    folder = Folder()
    path = folder.path / folder.write("m.mo", "model M\n  Real x;\nequation\n  x = foo;\nend M;\n")
    plain = {key: value for key, value in os.environ.items() if key == "NO_COLOR"}
    if not plain:
        expect("\033[" in on_a_terminal(["check", path], {"TERM": "xterm"}), "no colour on a terminal")
    expect("\033" not in on_a_terminal(["check", path], {"TERM": "xterm", "NO_COLOR": "1"}), "NO_COLOR is ignored")
    expect("\033" not in on_a_terminal(["check", path], {"TERM": "dumb"}), "colour on a dumb terminal")


# ---- exit status ----

def files_that_fail():
    folder = Folder()
    folder.write("fine.mo", PENDULUM.read_text())
    run = expect_exit(folder.run("check", "none.mo"), 7)
    expect("none.mo" in run.stderr, run.stderr)
    expect_exit(folder.run("check", folder.path), 7)
    run = expect_exit(folder.run("simulate", "fine.mo", "--output-file", "none/p.csv"), 7)
    expect("none/p.csv" in run.stderr, run.stderr)
    run = expect_exit(folder.run("analyze", "fine.mo", "--json", "none/p.json"), 7)
    expect("none/p.json" in run.stderr, run.stderr)
    expect_exit(folder.run("analyze", "fine.mo", "--svg", "none/p.svg"), 7)
    expect_exit(folder.run("simulate", "fine.mo", "--plot", "none/p.svg"), 7)
    expect(folder.names() == ["fine.mo"], folder.names())


def standard_output_that_fails():
    for words in (["flatten", PENDULUM], ["analyze", PENDULUM], ["analyze", PENDULUM, "--json"], ["init", PENDULUM],
                  ["simulate", PENDULUM, "--output-file", "-"], ["simulate", PENDULUM, "--json"], ["--help"]):
        with open("/dev/full", "w") as full:
            run = Folder().run(*words, stdout=full, stderr=subprocess.PIPE)
            expect(run.returncode == 7 and "standard output" in run.stderr, words, run.returncode, run.stderr)
        folder = Folder()
        closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', DAEDAL, *map(str, words)], cwd=folder.path,
                                stderr=subprocess.PIPE, text=True)
        expect(closed.returncode == 7 and "standard output" in closed.stderr, words, closed.returncode, closed.stderr)
    quiet = subprocess.run(["sh", "-c", 'exec "$0" check -q "$1" >&-', DAEDAL, str(PENDULUM)])
    expect(quiet.returncode == 0, "check needs no standard output")


def exit_by_cause():
    """3: the model is wrong, 4: its structure, 5: its start, 6: the run failed; JSON is written in all cases."""
    cases = [("bad", "model M\n  Real x\nend M;\n", 3, "input"), ("empty", "", 3, "input"),
             ("utf", b"model M\n  Real x\xff;\nend M;\n", 3, "input"), ("few", UNBALANCED, 4, "unbalanced"),
             ("start", NO_START, 5, "init"), ("blow", BLOWS_UP, 6, "integration")]
    for name, text, code, status in cases:
        folder = Folder()
        folder.write("m.mo", text)
        run = expect_exit(folder.run("simulate", "m.mo", "--stop-time", "2", "--json", "m.json"), code)
        report = json.loads((folder.path / "m.json").read_text())
        expect(report["status"] == status and SIMULATE_KEYS <= set(report), name, report)
        expect(run.stderr, name, "said nothing")
        expect(code == 6 or folder.names() == ["m.json", "m.mo"], name, folder.names())
        shown = expect_exit(folder.run("simulate", "m.mo", "--stop-time", "2", "--json"), code)
        expect(json.loads(shown.stdout)["status"] == status, shown.stdout)
    folder = Folder()
    folder.write("m.mo", UNBALANCED)
    report = json.loads(expect_exit(folder.run("analyze", "m.mo", "--json", "-"), 4).stdout)
    expect(report["status"] == "unbalanced" and report["dof"] is None and ANALYZE_KEYS <= set(report), report)
    expect_exit(folder.run("check", "m.mo"), 4)
    report = json.loads(expect_exit(folder.run("analyze", "none.mo", "--json"), 7).stdout)
    expect(report["status"] == "input" and report["equations"] is None and ANALYZE_KEYS <= set(report), report)
    report = json.loads(expect_exit(folder.run("init", "none.mo", "--json"), 7).stdout)
    expect(report["status"] == "input" and INIT_KEYS <= set(report), report)


# ---- what comes out ----

def analyze_reports():
    folder = Folder()
    run = expect_exit(folder.run("analyze", PENDULUM, "--json", "p.json", "--svg", "p.svg"), 0)
    report = json.loads((folder.path / "p.json").read_text())
    expect(ANALYZE_KEYS <= set(report), ANALYZE_KEYS - set(report))
    expect(report["status"] == "ok" and report["structural_index"] == 3 and report["dof"] == 2, report)
    expect(report["offsets"] == {"c": [1, 1, 0, 0, 2], "d": [2, 2, 1, 1, 0]}, report["offsets"])
    expect(len(report["hidden_constraints"]) >= 2, report["hidden_constraints"])
    expect("index" in run.stdout, run.stdout)
    expect((folder.path / "p.svg").read_text().lstrip().startswith(("<svg", "<?xml")), "no SVG")
    last = expect_exit(folder.run("analyze", PENDULUM, "--json"), 0)
    again = json.loads(last.stdout)
    expect({**again, "seconds": None} == {**report, "seconds": None}, "--json last differs")
    expect("c, by equation: 1 1 0 0 2" in folder.run("analyze", PENDULUM, "-v").stderr, "-v lacks the offsets")


def init_reports():
    folder = Folder()
    text = expect_exit(folder.run("init", PENDULUM), 0).stdout
    expect(re.search(r"^x\s+1\b", text, re.M), text)
    report = json.loads(expect_exit(folder.run("init", PENDULUM, "--json"), 0).stdout)
    values = {entry["name"]: entry["value"] for entry in report["values"]}
    expect(report["status"] == "ok" and abs(values["x"] - 1) < 1e-12 and abs(values["lambda"]) < 1e-12, report)
    report = json.loads(expect_exit(folder.run("init", PENDULUM, "--override", "L=2", "--json"), 0).stdout)
    values = {entry["name"]: entry["value"] for entry in report["values"]}
    expect(abs(values["x"] - 2) < 1e-12, values)


def rows_of(text):
    lines = text.strip().split("\n")
    names = lines[0].split(",")
    return [dict(zip(names, map(float, line.split(",")))) for line in lines[1:]]


def simulate_reports():
    folder = Folder()
    run = expect_exit(folder.run("simulate", PENDULUM, "--json", "p.json", "--plot", "p.svg", "-v"), 0)
    expect(folder.names() == ["Pendulum.csv", "p.json", "p.svg"], folder.names())
    expect("Pendulum.csv" in run.stderr and not run.stdout, "the default file is not named", run.stderr)
    rows = rows_of((folder.path / "Pendulum.csv").read_text())
    expect(len(rows) == 501 and rows[0]["time"] == 0 and rows[-1]["time"] == 10, len(rows))
    expect(max(abs(row["x"]**2 + row["y"]**2 - 1) for row in rows) < 1e-11, "the rod stretched")
    report = json.loads((folder.path / "p.json").read_text())
    expect(SIMULATE_KEYS <= set(report), SIMULATE_KEYS - set(report))
    expect(report["status"] == "ok" and report["states"] == 2 and report["steps"] > 10, report)
    expect(abs(report["final"]["x"] - rows[-1]["x"]) < 1e-14, report["final"])
    expect(len(re.findall(r"^pivot at t = ", run.stderr, re.M)) == len(report["pivots"]) > 0, run.stderr)
    expect("\r" not in run.stderr, "a progress bar without a terminal")
    quiet = expect_exit(folder.run("simulate", PENDULUM, "-q"), 0)
    expect(not quiet.stdout and not quiet.stderr, "-q speaks", quiet.stderr)


def simulate_options():
    folder = Folder()
    run = expect_exit(folder.run("simulate", PENDULUM, "--output-file", "-", "--stop-time", "1", "--intervals", "4",
                                 "--variables", "x|y", "--override", "L=2"), 0)
    rows = rows_of(run.stdout)
    expect(list(rows[0]) == ["time", "x", "y"] and [row["time"] for row in rows] == [0, 0.25, 0.5, 0.75, 1], run.stdout)
    expect(abs(rows[-1]["x"]**2 + rows[-1]["y"]**2 - 4) < 1e-10, rows[-1])
    expect(not folder.names(), folder.names())
    run = expect_exit(folder.run("simulate", PENDULUM, "--output-file=-", "--start-time=1", "--stop-time=2",
                                 "--output-interval=0.5"), 0)
    expect([row["time"] for row in rows_of(run.stdout)] == [1, 1.5, 2], run.stdout)
    run = expect_exit(folder.run("simulate", PENDULUM, "-o", "-", "--stop-time", "1", "--variables", "x", "--variables", "vx,y", "--override", "L=2",
                                 "--override", "g=0"), 0)
    rows = rows_of(run.stdout)
    expect(list(rows[0]) == ["time", "x", "y", "vx"] and abs(rows[-1]["x"] - 2) < 1e-10, rows[-1])
    expect_exit(folder.run("simulate", PENDULUM, "--output-file", "p.mat", "-q"), 0)
    expect((folder.path / "p.mat").stat().st_size > 1000, "no MAT file")
    plot = expect_exit(folder.run("simulate", PENDULUM, "--plot", "-", "--plot", "p.svg", "--plot=q.svg", "--output-file", "p.csv"), 0).stdout
    expect(plot.count("\n") > 5, "no plot in characters", plot)
    expect((folder.path / "p.svg").read_bytes() == (folder.path / "q.svg").read_bytes(), "two pictures")
    for solver in ("erk", "radau"):
        run = expect_exit(folder.run("simulate", PENDULUM, "--solver", solver, "--output-file", "q.csv", "--json"), 0)
        expect(json.loads(run.stdout)["solver"] == solver, run.stdout)


def broken_off_runs():
    """After a failure or a signal the trajectory so far is complete, and the message says so."""
    folder = Folder()
    folder.write("m.mo", BLOWS_UP)
    run = expect_exit(folder.run("simulate", "m.mo", "--stop-time", "2"), 6)
    rows = rows_of((folder.path / "M.csv").read_text())
    expect(f"stopped; the trajectory up to t = {rows[-1]['time']:.10g} is in M.csv" in run.stderr, rows[-1], run.stderr)
    expect(len(rows) > 100 and all(abs(row["x"] * (1 - row["time"]) - 1) < 1e-3 for row in rows if row["time"] < 0.98), rows[-1])
    folder = Folder()
    folder.write("long.mo", LONG_RUN)
    child = subprocess.Popen([DAEDAL, "simulate", "long.mo", "--output-interval", "0.1"], cwd=folder.path, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, words = child.communicate()
    expect(child.returncode == 130, "exit", child.returncode, words)
    rows = rows_of((folder.path / "Pendulum.csv").read_text())
    expect(f"interrupted; the trajectory up to t = {rows[-1]['time']:.10g} is in Pendulum.csv" in words, rows[-1], words)
    expect(set(folder.names()) - {"Pendulum.csv.part", "Pendulum.csv.part.state"} == {"Pendulum.csv", "long.mo"}, folder.names())
    expect(len(rows) > 2, "an empty trajectory")


def files_are_whole():
    """A file is replaced in one step: output that cannot be finished leaves the old file, and no other file."""
    folder = Folder()
    folder.write("fine.mo", PENDULUM.read_text())
    folder.write("Pendulum.csv", "old\n")
    for trap in ('trap "" XFSZ;', ""):
        limited = subprocess.run(["sh", "-c", f'ulimit -f 8; {trap} exec "$0" simulate fine.mo', DAEDAL],
                                 cwd=folder.path, stderr=subprocess.PIPE, text=True)
        expect(limited.returncode == 7, limited.returncode, limited.stderr)
        expect((folder.path / "Pendulum.csv").read_text() == "old\n", "the old file is gone")
        expect(folder.names() == ["Pendulum.csv", "fine.mo"], folder.names())


def export_writes_c():
    folder = Folder()
    run = folder.run("export", PENDULUM, "--c", "out")
    expect_exit(run, 0)
    sources = [name for name in os.listdir(folder.path / "out") if name.endswith(".c")]
    expect(sources and "out" in run.stderr, sources, run.stderr)


TESTS = [usage_errors, several_files, help_is_data, manual_page_is_true, reports_are_documented, diagnostics_are_reported, examples_pass_check, flatten_reads_back, class_of_a_file, caret,
         several_errors, no_colour_in_files, colour_on_a_terminal, files_that_fail, standard_output_that_fails,
         exit_by_cause, analyze_reports, init_reports, simulate_reports, simulate_options, broken_off_runs,
         files_are_whole, export_writes_c]


def main():
    chosen = [test for test in TESTS if not sys.argv[1:] or test.__name__ in sys.argv[1:]]
    failed = 0
    for test in chosen:
        try:
            test()
        except (AssertionError, OSError, ValueError, KeyError) as error:
            failed += 1
            print(f"{test.__name__}: {error!r}" if not isinstance(error, AssertionError) else f"{test.__name__}: {error}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
