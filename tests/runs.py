"""Runs of generated models, and their results.

A process for each model would cost more than its run. So models are run in this process, through the library that was just built.
Python has no sanitizer runtime: there the command runs them.

DAEDAL_MODELS=N in the environment makes N models instead of a few, and DAEDAL_SEED=K begins with number K. tools/long_tests sets
both, and adds up the tallies that are printed then. If a model is run in several ways, each number uses one of them; with
DAEDAL_TEST_TIER=long it uses all."""
import collections
import csv
import ctypes
import importlib.util
import io
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

SOURCE, BUILD = pathlib.Path(os.environ["SOURCE_DIR"]), pathlib.Path(os.environ["BUILD_DIR"])
SANITIZED = os.environ.get("BUILD_KIND") in ("asan", "tsan")
IS_WIDE = "DAEDAL_MODELS" in os.environ
IS_LONG = os.environ.get("DAEDAL_TEST_TIER") == "long" and not IS_WIDE
PATIENCE = 20  # seconds of processor time for a run
TOO_LONG = 124
ERROR = 2  # daedal_severity


def seeds(usual, quick=None):
    """Numbers of the models of a test: `usual` of them by default; `quick` of them outside of the long tier, if models take long."""
    first = int(os.environ.get("DAEDAL_SEED", "0"))
    return range(first, first + int(os.environ.get("DAEDAL_MODELS", usual if IS_LONG or quick is None else quick)))


def by_turns(choices, turn):
    """All choices in the long tier, otherwise the choice whose turn it is."""
    return list(choices) if IS_LONG else [choices[turn % len(choices)]]


def limit_processor_time():
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))


class Run:
    """Exit status, messages, the code of the first error, columns by name, the report."""

    def __init__(self, status, words, cause="", columns=None, report=None):
        self.status, self.words, self.cause, self.columns, self.report = status, words, cause, columns or {}, report or {}

    def end(self, name):
        return self.columns[name][-1]


class Tally:
    """The results of the runs of one kind: how many were right, which were wrong, and how many were refused for which reason."""

    def __init__(self, kind):
        self.kind, self.right, self.wrong, self.refused, self.examples = kind, 0, [], collections.Counter(), {}

    def add_right(self):
        self.right += 1

    def add_wrong(self, *what):
        self.wrong.append(" ".join(map(str, what)))

    def add_refused(self, run, *what):
        self.refused[run.cause] += 1
        self.examples.setdefault(run.cause, " ".join(map(str, what)) + ": " + run.words.partition("\n")[0])

    def add(self, run, is_right, *what):
        """Adds a run, and whether its result is right."""
        if run.status:
            self.add_refused(run, *what)
        elif is_right():
            self.add_right()
        else:
            self.add_wrong(*what)

    def check(self, test, may_refuse=0.0):
        """Nothing may be wrong, and no more than this fraction may be refused. A wide run is only reported: its refusals are counted."""
        if IS_WIDE:
            self.tell()
            may_refuse = 1
        refused = sum(self.refused.values())
        with test.subTest(kind=self.kind):
            test.assertEqual(self.wrong, [])
            test.assertLessEqual(refused, may_refuse * (self.right + refused), self.examples)

    def tell(self):
        """For tools/long_tests; test_consistent.c prints such lines too."""
        for what in self.wrong:
            print("wrong", self.kind, what)
        for cause, what in self.examples.items():
            print("refused", cause, self.kind, what)
        counts = {"kind": self.kind, "right": self.right, "wrong": len(self.wrong), "refused": self.refused}
        print("tally", json.dumps(counts), flush=True)


def load_interface():
    """The structs and functions of the Python package, without the rest of it, which needs NumPy."""
    os.environ.setdefault("DAEDAL_LIBRARY", str(BUILD / "libdaedal.so"))
    place = importlib.util.spec_from_file_location("daedal_library", SOURCE / "python" / "daedal" / "_library.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


class Library:
    """Runs in this process."""

    def __init__(self):
        self.interface = load_interface()
        self.library = self.interface.library

    def simulate(self, text, options):
        raw, code = self.interface.default_options(), text.encode()
        for name, value in options.items():
            setattr(raw, name, value.encode() if isinstance(value, str) else value)
        give_up = time.process_time() + PATIENCE
        late = []
        watch = self.interface.OnStep(lambda _context, _progress: bool(time.process_time() > give_up and (late.append(True) or True)))
        raw.on_step = watch
        model = self.load(code)
        result = self.library.simulate(model, ctypes.byref(raw))
        run = self.read(model, result) if not late else Run(TOO_LONG, "takes too long", "too long")
        self.library.free(result)
        self.library.free(model)
        return run

    def load(self, code):
        asked = self.interface.LoadOptions(size=ctypes.sizeof(self.interface.LoadOptions))
        return self.library.load(b"m.mo", code, len(code), ctypes.byref(asked))

    def check(self, text):
        model = self.load(text.encode())
        status = self.library.status_of(model) or self.library.analyze(model).status
        run = Run(status, *self.words(self.said(model)))
        self.library.free(model)
        return run

    def said(self, model):
        return [self.library.diagnostic_get(model, k) for k in range(self.library.diagnostic_count(model))]

    @staticmethod
    def words(said):
        """The messages, and the code of the first error."""
        words = "\n".join(line.decode() for d in said for line in (d.message, *(d.notes[k].message for k in range(d.note_count))))
        return words, next((d.code.decode() for d in said if d.severity == ERROR), "")

    def read(self, model, result):
        status, rows = self.library.status_of(result), self.library.result_rows(result)
        said = [self.library.diagnostic_get(result, k) for k in range(self.library.diagnostic_count(result))]
        words, cause = self.words(said or self.said(model))
        columns = {}
        for signal in range(self.library.result_signals(result) if status == 0 else 0):
            values = ctypes.cast(self.library.result_values(result, signal), self.interface.Doubles)
            columns[self.library.result_name(result, signal).decode()] = values[:rows]
        return Run(status, words, cause, columns, json.loads(self.library.report(result, self.interface.Report.RUN, self.interface.JSON)))


class Command:
    """Runs, each in a separate process."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def write(self, text):
        path = os.path.join(self.folder, "m.mo")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, text):
        done = subprocess.run([os.environ["DAEDAL"], "check", self.write(text)], capture_output=True, text=True, check=False, preexec_fn=limit_processor_time)
        return Run(done.returncode, done.stderr.strip(), f"status {done.returncode}")

    def simulate(self, text, options):
        path, report = self.write(text), os.path.join(self.folder, "m.json")
        words = [word for name, value in options.items()
                 for word in (["--" + name.replace("_", "-")] + ([] if value is True else [str(value)]))]
        command = [os.environ["DAEDAL"], "simulate", path, "-q", "--output-file", "-", "--json", report, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit_processor_time)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return Run(TOO_LONG, "takes too long", "too long")
        rows = list(csv.reader(io.StringIO(done.stdout))) if done.returncode == 0 else []
        columns = {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])} if rows else {}
        with open(report, encoding="utf-8") as file:
            return Run(done.returncode, done.stderr.strip(), f"status {done.returncode}", columns, json.load(file))


BACKEND = Command() if SANITIZED else Library()


def simulate(text, **options):
    """A run of a model with options named as in daedal.h."""
    return BACKEND.simulate(text, options)


def check(text):
    """The messages about a model, without a run."""
    return BACKEND.check(text)


def solver_names():
    words = subprocess.run([os.environ["DAEDAL"], "simulate", "--help"], capture_output=True, text=True, check=True).stdout
    return re.search(r"integrator: (.*)", words).group(1).split(", ")
