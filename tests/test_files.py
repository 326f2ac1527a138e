"""Files and terminals: after any failure, nothing is lost without a message, nothing is destroyed and no temporary file is kept. Failures are refused memory, a full disk, signals, one path
for two outputs, places that cannot be written, and names with control characters. A library
loaded before the C library (SHIM) makes failures happen at a chosen moment."""
import csv
import io
import itertools
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
PENDULUM = SOURCE / "examples/pendulum.mo"
SANITIZED = os.environ["BUILD_KIND"] == "asan"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

SMALL = """model M
  parameter Real a = 2;
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -a*x;
  y = x^2;
end M;
"""

# The SHIM_AT-th event of the kind SHIM_KIND fails: allocate (refused), full (a write fails), write and rename (a signal arrives
# before it). Counts go to SHIM_COUNT when it is set.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count;

static int now(const char *kind) {
  const char *asked = getenv("SHIM_KIND");
  return asked && strcmp(asked, kind) == 0 && ++count == atol(getenv("SHIM_AT"));
}
void *realloc(void *old, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next) next = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
  return size && now("allocate") ? NULL : next(old, size);
}
ssize_t write(int file, const void *bytes, size_t length) {
  if (file > 2 && now("write")) kill(getpid(), atoi(getenv("SHIM_SIGNAL")));
  if (file > 2 && now("full")) return errno = ENOSPC, -1;
  return syscall(SYS_write, file, bytes, length);
}
int rename(const char *from, const char *to) {
  if (now("rename")) kill(getpid(), atoi(getenv("SHIM_SIGNAL")));
  return (int)syscall(SYS_renameat, -100, from, -100, to);
}
__attribute__((destructor)) static void tell(void) {
  FILE *file = getenv("SHIM_COUNT") ? fopen(getenv("SHIM_COUNT"), "w") : NULL;
  if (file) fprintf(file, "%ld", count), fclose(file);
}
"""


class Folder(unittest.TestCase):
    """A separate working directory for each test."""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.path = pathlib.Path(self.holder.name)
        self.write("m.mo", SMALL)

    def write(self, name, text):
        (self.path / name).write_text(text)
        return name

    def run_daedal(self, *words, **more):
        environment = dict(os.environ, **more.pop("env", {}))
        return subprocess.run([DAEDAL, *map(str, words)], cwd=self.path, capture_output="stdout" not in more,
                              env=environment, **more)

    def expect(self, code, *words, **more):
        run = self.run_daedal(*words, **more)
        self.assertEqual(run.returncode, code, (words, run.stdout, run.stderr))
        return run

    def files(self):
        return {str(path.relative_to(self.path)): path.read_bytes() for path in self.path.rglob("*") if path.is_file()}


class Shim(Folder):
    """Runs in which one thing goes wrong."""

    @classmethod
    def setUpClass(cls):
        cls.shim_holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.shim_holder.cleanup)
        folder = pathlib.Path(cls.shim_holder.name)
        (folder / "shim.c").write_text(SHIM)
        cls.shim = folder / "shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", cls.shim, folder / "shim.c", "-ldl"], check=True)

    def go_wrong(self, kind, at, *words, number=0):
        return self.run_daedal(*words, env={"LD_PRELOAD": str(self.shim), "SHIM_KIND": kind, "SHIM_AT": str(at),
                                            "SHIM_SIGNAL": str(int(number))})

    def events(self, kind, *words):
        counter = pathlib.Path(self.shim_holder.name) / "count"
        self.run_daedal(*words, env={"LD_PRELOAD": str(self.shim), "SHIM_KIND": kind, "SHIM_AT": "-1",
                                     "SHIM_COUNT": str(counter)})
        return int(counter.read_text())


@unittest.skipIf(SANITIZED, "the sanitizer must come before every other library")
class RefusedMemory(Shim):
    COMMANDS = [["simulate", "m.mo", "-q", "--output-file", "-"], ["simulate", "m.mo", "-q", "--json"],
                ["simulate", "m.mo", "-q", "--plot", "-"], ["simulate", "m.mo", "-q", "--json", "r.json", "--plot", "r.svg"],
                ["init", "m.mo"], ["init", "m.mo", "--json"], ["init", "m.mo", "--write", "-"], ["reduce", "m.mo"],
                ["reduce", "m.mo", "--json"], ["analyze", "m.mo"], ["analyze", "m.mo", "--svg", "r.svg", "--json", "r.json"],
                ["flatten", "m.mo"], ["export", "m.mo", "--c", "c"], ["compare", "m.mo", "--methods", "dummy,none", "--plot", "r.svg"]]

    @staticmethod
    def without_times(text):
        """The part of a text that does not change from run to run."""
        text = re.sub(rb'"seconds": (\{[^}]*\}|[-+.e0-9]+)', b"", text)
        return re.sub(rb"(?m)^(\w+ +\w+(?: +\d+){5}) +[\d.]+", rb"\1", text)

    def outcome(self, run):
        files = self.files()
        files.pop("m.mo")
        for name in list(files):
            (self.path / name).unlink()
        return self.without_times(run.stdout), {name: self.without_times(text) for name, text in files.items()}

    def test_everything_or_out_of_memory(self):
        """For every refused allocation: all of the output, or exit 1 and a message."""
        for words in self.COMMANDS:
            whole = self.outcome(self.expect(0, *words))
            count = self.events("allocate", *words)
            self.outcome(self.run_daedal("flatten", "m.mo"))
            chance = random.Random(" ".join(words))
            last = range(max(1, count - 12), count + 1)  # where reports are made
            for at in sorted({*last, *(chance.randint(1, count) for _ in range(10))}):
                run = self.go_wrong("allocate", at, *words)
                outcome = self.outcome(run)
                said = (words, at, count, run.returncode, run.stderr)
                self.assertIn(run.returncode, (0, 1), said)
                self.assertFalse([name for name in outcome[1] if ".part" in name], said)
                if run.returncode == 0:
                    self.assertEqual(outcome, whole, said)
                else:
                    self.assertEqual(run.stderr.count(b"out of memory"), 1, said)


class LongOutput(Folder):
    def test_csv_streams(self):
        """The memory of a run does not grow with the text on standard output."""
        def peak(*words):
            with open(os.devnull, "w") as sink:
                child = subprocess.Popen([DAEDAL, "simulate", "m.mo", "-q", "--intervals", "300000", *words], cwd=self.path, stdout=sink)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = status
                self.assertEqual(status, 0)
                return usage.ru_maxrss
        self.assertLess(peak("--output-file", "-"), 1.1 * peak("--output-file", "r.csv"))


class Paths(Folder):
    def aliases(self, name):
        """Other names of a file."""
        path = self.path / name
        (self.path / "sub").mkdir(exist_ok=True)
        yield from (name, f"./{name}", f"sub/../{name}", f".//{name}", str(path), f"{self.path.parent}/./{self.path.name}/{name}")
        if not (self.path / "dir").exists():
            (self.path / "dir").symlink_to(self.path)
        yield f"dir/{name}"
        if path.exists():
            for kind, make in ("soft", os.symlink), ("hard", os.link):
                other = self.path / f"{kind}-{name}"
                if not other.exists():
                    make(path, other)
                yield other.name

    def test_what_is_read_is_kept(self):
        """No output may be a file that another option reads."""
        self.write("m.mo", "model M\n  input Real u;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = u - x;\nend M;\n")
        (self.path / "lib/L").mkdir(parents=True)
        texts = {"u.csv": "time,u\n0,1\n1,2\n", "x.csv": "time,x\n0,1\n1,2\n", "v.txt": "(x(start = 2))\n", "M.csv": "time,u\n0,1\n1,2\n",
                 "lib/L/package.mo": "package L\nend L;\n", "lib/L/M.mo": "within L;\nmodel M\n  Real x;\nequation\n  x = 1;\nend M;\n"}
        for name, text in texts.items():
            self.write(name, text)
        run, lib = ["simulate", "m.mo"], ["--library", "lib", "--model", "L.M"]
        lines = [[*run, "--input", "M.csv"], [*run, "--input", "held:M.csv"]]
        for other in self.aliases("u.csv"):
            lines += [[*run, "--input", "u.csv", "--output-file", other], [*run, "--input", "x = 1, held:u.csv ", "--json", other],
                      ["sweep", "m.mo", "--input", "u.csv", "--vary", "x=1:1:2", "--output-file", other],
                      ["init", "m.mo", "--input", "u.csv", "--write", other]]
        for other in self.aliases("x.csv"):
            lines += [["fit", "m.mo", "--data", "x.csv", "--parameters", "x=1", "--json", other], [*run, "--start-from", "x.csv@0.5", "--output-file", other],
                      [*run, "--start-from", "x.csv", "--json", other], ["reduce", "m.mo", "--start-from", "x.csv", "--json", other]]
        lines += [[*run, "--start-values", "v.txt", "--json", "v.txt"], ["simulate", *lib, "--json", "lib/L/M.mo"], ["init", *lib, "--write", "lib/L/M.mo"]]
        for line in lines:
            self.assertIn(b"would overwrite a file that", self.expect(2, *line).stderr)
            for name, text in texts.items():
                self.assertEqual((self.path / name).read_text(), text, line)

    def test_the_model_is_kept(self):
        """No output may be the model."""
        for model in "m.csv", "m.mat", "m.svg", "m.json":
            text = SMALL if model != "m.json" else "model M\n  wrong\n"
            self.write(model, text)
            for other in self.aliases(model):
                ending = model[1:]
                words = {".csv": [["simulate", model, "--output-file", other]], ".mat": [["simulate", model, "--output-file", other]],
                         ".svg": [["simulate", model, "--plot", other], ["analyze", model, "--svg", other], ["compare", model, "--plot", other]],
                         ".json": [[command, model, "--json", other] for command in ("analyze", "init", "reduce", "simulate", "compare")]
                         + [["init", model, "--write", other]]}[ending]
                for line in words:
                    run = self.expect(2, *line)
                    self.assertIn(b"would overwrite the model", run.stderr)
                    self.assertEqual((self.path / model).read_text(), text, line)
        self.write("M.csv", SMALL)  # the default place of the trajectory
        self.assertIn(b"would overwrite the model", self.expect(2, "simulate", "M.csv").stderr)
        for name in "model.c", "main.c", "model.h", "Makefile":
            for directory in ".", "sub/..":
                self.write(name, SMALL)
                self.assertIn(b"is the model itself", self.expect(2, "export", name, "--c", directory).stderr)
                self.assertEqual((self.path / name).read_text(), SMALL)
                self.assertFalse([path for path in self.files() if ".part" in path])
            (self.path / name).unlink()

    def test_exports_replace_what_exports_wrote(self):
        """If there is any file that no export wrote, it is kept, and no file is written; empty files and earlier exports are replaced."""
        for extra in [], ["--standalone"]:
            self.expect(0, "export", "m.mo", "--c", "c", *extra)
            exported = self.files()
            names = sorted(name for name in exported if name.startswith("c/"))
            self.expect(0, "export", "m.mo", "--c", "c", *extra)
            self.assertEqual(self.files(), exported)
            for name in names:
                (self.path / name).write_text("all: mine\n")
                before = self.files()
                run = self.expect(2, "export", "m.mo", "--c", "c", *extra)
                self.assertIn(b"no export of this version wrote it", run.stderr)
                self.assertEqual(self.files(), before)
                (self.path / name).write_text("")
                self.expect(0, "export", "m.mo", "--c", "c", *extra)
                self.assertEqual(self.files(), exported)
            shutil.rmtree(self.path / "c")

    def test_standard_output_by_its_path(self):
        plain = self.expect(0, "simulate", "m.mo", "--quiet", "--output-file", "-").stdout
        self.assertEqual(self.expect(0, "simulate", "m.mo", "--quiet", "--output-file", "/dev/stdout").stdout, plain)
        self.expect(2, "simulate", "m.mo", "--output-file", "-", "--json", "/dev/stdout")

    def test_one_path_for_two_outputs(self):
        for exists in False, True:
            for name in "r.csv", "r.svg", "r.json":
                if exists:
                    self.write(name, "old")
            before = self.files()
            pairs = [("simulate", "--output-file", "r.csv", "--json"), ("simulate", "--plot", "r.svg", "--json"),
                     ("compare", "--plot", "r.svg", "--json"), ("analyze", "--svg", "r.svg", "--json"), ("init", "--write", "r.json", "--json")]
            for command, option, path, other_option in pairs:
                for other in self.aliases(path):
                    run = self.expect(2, command, "m.mo", option, path, other_option, other)
                    self.assertIn(b"would write to one file", run.stderr)
            self.assertIn(b"would write to one file", self.expect(2, "simulate", "m.mo", "--json", "./M.csv").stderr)
            after = {name: text for name, text in self.files().items() if not name.startswith(("soft-", "hard-"))}
            self.assertEqual(after, before)

    def test_different_outputs_are_not_refused(self):
        self.expect(0, "simulate", "m.mo", "--output-file", "r.csv", "--json", "r.json", "--plot", "r.svg")
        self.expect(0, "simulate", "m.mo", "--output-file", "r.csv", "--json", "r.json", "--plot", "r.svg")
        self.expect(0, "init", "m.mo", "--write", "/dev/null", "--json", "/dev/null")

    def test_places_that_cannot_be_written(self):
        """The error is reported before the integration, with exit status 7; the JSON includes it if it can be written."""
        self.write("long.mo", PENDULUM.read_text().replace("StopTime = 10", "StopTime = 1e9"))
        self.write("file", "")
        for name in "d.csv", "d.mat", "d.svg", "d.json":
            (self.path / name).mkdir()
        places = ["none/r", "none/more/r", "d", "file/r", "x" * 300]
        if os.geteuid() != 0:
            (self.path / "closed").mkdir(mode=0o500)
            places.append("closed/r")
        before = self.files()
        for place in places:
            for words in (["simulate", "long.mo", "--output-file", f"{place}.csv"], ["simulate", "long.mo", "--output-file", f"{place}.mat"],
                          ["simulate", "long.mo", "--plot", f"{place}.svg"], ["simulate", "long.mo", "--json", f"{place}.json"],
                          ["compare", "long.mo", "--plot", f"{place}.svg"], ["compare", "long.mo", "--json", f"{place}.json"],
                          ["init", "long.mo", "--write", f"{place}.json"], ["analyze", "long.mo", "--svg", f"{place}.svg"]):
                run = self.expect(7, *words)
                self.assertEqual(run.stderr.count(b"cannot write"), 1, run.stderr)
                self.assertEqual(self.files(), before, words)
        for place in "none/c", "file", "file/c":
            self.expect(7, "export", "m.mo", "--c", place)
        run = self.expect(7, "simulate", "long.mo", "--output-file", "none/r.csv", "--json")
        self.assertEqual(json.loads(run.stdout)["status"], "input")
        (self.path / "M.csv").mkdir()
        self.expect(7, "simulate", "m.mo")


class Hidden(Folder):
    def test_mat_files_leave_out_what_is_hidden(self):
        """CSV files have all of them: tests/cases/simulate/hidden_results.mo."""
        self.write("h.mo", "model M\n  Real x(start = 1, fixed = true), away = 3*x annotation(HideResult = true);\nprotected\n"
                           "  Real zinc = x + 1, open = x + 2 annotation(HideResult = false), s(start = 0, fixed = true);\n"
                           "equation\n  der(x) = -x;\n  der(s) = zinc;\nend M;\n")
        for words, kept in (([], {"open"}), (["--protected"], {"away", "zinc", "open"}), (["--variables", "zinc,x"], {"zinc"})):
            self.expect(0, "simulate", "h.mo", "-q", "--output-file", "h.mat", *words)
            names = (self.path / "h.mat").read_bytes()
            self.assertEqual({name for name in ("away", "zinc", "open") if name.encode() in names}, kept, words)


class Permissions(Folder):
    def test_a_replaced_file_keeps_its_mode(self):
        """The umask decides only for new files."""
        for umask, mode in itertools.product((0o022, 0o077, 0), (0o600, 0o644, 0o664, 0o755, 0o200)):
            for words, name in ((["simulate", "m.mo", "-q"], "M.csv"), (["simulate", "m.mo", "-q", "--output-file", "M.mat"], "M.mat"),
                                (["init", "m.mo", "-q", "--write", "list"], "list")):
                self.write(name, "old")
                (self.path / name).chmod(mode)
                self.expect(0, *words, umask=umask)
                self.assertEqual(stat.S_IMODE((self.path / name).stat().st_mode), mode)
                (self.path / name).unlink()
                self.expect(0, *words, umask=umask)
                self.assertEqual(stat.S_IMODE((self.path / name).stat().st_mode), 0o666 & ~umask)


@unittest.skipIf(SANITIZED, "the sanitizer must come before every other library")
class Interrupted(Shim):
    def test_signals_while_writing(self):
        """A signal at any write or renaming: the file is the old one or the new one, and there is no other file."""
        self.expect(0, "simulate", "m.mo", "-q", "--output-file", "new.csv", "--intervals", "3000")
        new = (self.path / "new.csv").read_bytes()
        (self.path / "new.csv").unlink()
        words = ["simulate", "m.mo", "-q", "--output-file", "r.csv", "--intervals", "3000"]
        for kind in "write", "rename":
            for at, number in itertools.product(range(1, self.events(kind, *words) + 1), ENDING):
                self.write("r.csv", "old")
                run = self.go_wrong(kind, at, *words, number=number)
                self.assertEqual(run.returncode, 128 + number, (kind, at, run.stderr))
                self.assertIn((self.path / "r.csv").read_bytes(), (b"old", new))
                self.assertEqual(set(self.files()), {"m.mo", "r.csv"})

    def test_a_full_disk(self):
        """For every failed write: exit 7, and the file concerned is still the old one."""
        for words, names in ((["simulate", "m.mo", "--output-file", "r.csv", "--plot", "r.svg", "--json", "r.json"], ["r.csv", "r.svg", "r.json"]),
                             (["simulate", "m.mo", "--output-file", "r.mat"], ["r.mat"]), (["init", "m.mo", "--write", "list"], ["list"]),
                             (["analyze", "m.mo", "--svg", "r.svg", "--json", "r.json"], ["r.svg", "r.json"])):
            for at in range(1, self.events("full", *words) + 1):
                for name in names:
                    self.write(name, "old")
                run = self.go_wrong("full", at, *words)
                said = (words, at, run.returncode, run.stderr)
                self.assertEqual(run.returncode, 7, said)
                self.assertEqual(run.stderr.count(b"No space left on device"), 1, said)
                self.assertEqual(sum((self.path / name).read_bytes() == b"old" for name in names), 1, said)
                self.assertEqual(set(self.files()), {"m.mo", *names}, said)
                for name in names:
                    (self.path / name).unlink()

    def test_ignored_signals_do_not_count(self):
        run = subprocess.run(["sh", "-c", 'trap "" HUP; exec "$0" simulate m.mo -q --intervals 3000', DAEDAL], cwd=self.path, check=True,
                             env=dict(os.environ, LD_PRELOAD=str(self.shim), SHIM_KIND="write", SHIM_AT="1", SHIM_SIGNAL="1"))
        self.assertEqual(run.returncode, 0)
        self.assertEqual(set(self.files()), {"m.mo", "M.csv"})

    def test_an_export_is_old_or_new(self):
        """A full disk or a signal at any moment leaves all old files, all new ones, or none."""
        self.expect(0, "export", "m.mo", "--c", "new")
        new = {path.name: path.read_bytes() for path in (self.path / "new").iterdir()}
        old = {name: text.splitlines(keepends=True)[0] + b"old" for name, text in new.items()}  # of an earlier export
        for fresh, kind in itertools.product((True, False), ("full", "write", "rename")):
            for at in range(1, self.events(kind, "export", "m.mo", "--c", "new") + 1):
                target = self.path / f"{kind}{at}{fresh}"
                if not fresh:
                    target.mkdir()
                    for name, text in old.items():
                        (target / name).write_bytes(text)
                run = self.go_wrong(kind, at, "export", "m.mo", "--c", target, number=signal.SIGTERM)
                found = {path.name: path.read_bytes() for path in target.iterdir()} if target.exists() else None
                self.assertIn(found, (None, {}, new) if fresh else (old, new), (kind, at, run.returncode, run.stderr))
                self.assertEqual(run.returncode, 7 if kind == "full" else 128 + signal.SIGTERM)


class BrokenOff(Folder):
    def test_every_ending_signal_keeps_the_trajectory(self):
        self.write("long.mo", PENDULUM.read_text().replace("StopTime = 10", "StopTime = 1e7, Interval = 1000"))
        for number, output in itertools.product(ENDING, ("r.csv", "-")):
            child = subprocess.Popen([DAEDAL, "simulate", "long.mo", "--output-interval", "0.1", "--output-file", output], cwd=self.path,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(0.3)
            child.send_signal(number)
            rows, words = child.communicate()
            self.assertEqual(child.returncode, 128 + number, words)
            self.assertRegex(words, f"interrupted; the trajectory up to t = .* is {'in r.csv' if output == 'r.csv' else 'on standard output'}")
            if output == "r.csv":
                rows = (self.path / output).read_text()
            self.assertEqual({line.count(",") for line in rows.splitlines()}, {rows.split("\n")[0].count(",")})
            self.assertTrue(rows.endswith("\n"))


class Compiling(Folder):
    def setUp(self):
        super().setUp()
        for name in "temporary", "-x", "bin":
            (self.path / name).mkdir()

    def slow_compiler(self):
        """A compiler that starts another process and takes its time."""
        (self.path / "bin/cc").write_text('#!/bin/sh\nsleep 55 & echo $! $$ > "$PIDS"; wait\n')
        (self.path / "bin/cc").chmod(0o755)
        return dict(os.environ, PATH=f"{self.path}/bin:{os.environ['PATH']}", TMPDIR=str(self.path / "temporary"), PIDS=str(self.path / "pids"))

    def test_signals(self):
        """The compiler and its children end, and the directory is gone."""
        environment = self.slow_compiler()
        for number in ENDING:
            child = subprocess.Popen([DAEDAL, "simulate", "m.mo", "--compile"], cwd=self.path, env=environment, stderr=subprocess.PIPE)
            pids = self.path / "pids"
            while not (pids.exists() and pids.read_text().endswith("\n")):
                time.sleep(0.01)
            child.send_signal(number)
            _, words = child.communicate()
            self.assertEqual(child.returncode, 128 + number, words)
            for pid in pids.read_text().split():
                self.assert_gone(int(pid))
            pids.unlink()
            self.assertEqual(list((self.path / "temporary").iterdir()), [])
            self.assertFalse((self.path / "M.csv").exists())

    def assert_gone(self, pid):
        for _ in range(200):
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] == "Z":
                    return
            except (FileNotFoundError, ProcessLookupError):
                return
            time.sleep(0.01)
        self.fail(f"process {pid} goes on")

    def test_temporary_directories(self):
        for folder in "-x", "./-x", "temporary/", str(self.path / "temporary"), "", "bin/../-x":
            self.expect(0, "simulate", "m.mo", "--compile", "-q", env={"TMPDIR": folder})
        for folder in "none", "m.mo", "x" * 2000, "-none/x":
            run = self.expect(7, "simulate", "m.mo", "--compile", env={"TMPDIR": folder})
            self.assertIn(b"it runs without --compile", run.stderr)
        self.assertEqual(list((self.path / "temporary").iterdir()) + list((self.path / "-x").iterdir()), [])


def column(name):
    """The name of a variable's column."""
    return f"'{name}'" if name == "time" or name.startswith(("der(", "'")) else name


def quoted(name):
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
    return "'" + "".join(escapes.get(character, character) for character in name) + "'"


class Names(Folder):
    ALPHABET = ["a", "b", " ", "\n", "\r", "\t", "\x1b[2J", "\x07", ",", '"', "'", "\\", "[", "]", "\u009b1m", "\x7f", "ü", ".", "(", ")", "der(", "time"]

    def models(self):
        """Models of several variables with unusual names, which are similar but different."""
        chance = random.Random(8)
        for _ in range(12):
            names = set()
            while len(names) < 6:
                name = "".join(chance.choice(self.ALPHABET) for _ in range(chance.randint(1, 4)))
                names |= {name, name + " ", name.replace("\n", " ")}
            names = sorted(names | {"time", "der(a)", "a", "'der(a)'"})
            chance.shuffle(names)
            lines = ["model M"] + [f"  Real {quoted(name)}(start = {k + 1}, fixed = true);" for k, name in enumerate(names)]
            lines += ["equation"] + [f"  der({quoted(name)}) = -{k + 1};" for k, name in enumerate(names)] + ["end M;", ""]
            yield names, "\n".join(lines)

    def test_columns_and_back(self):
        """Each name is a column, and a result or a list of start values leads back to the values."""
        for names, text in self.models():
            self.write("n.mo", text)
            self.expect(0, "simulate", "n.mo", "-q", "--output-file", "n.csv", "--intervals", "2")
            with open(self.path / "n.csv", newline="") as file:
                header, *rows = csv.reader(file)
            self.assertEqual(len(set(header)), 1 + 2 * len(names), header)
            self.assertLessEqual({column(name) for name in names}, set(header))
            last = dict(zip(header, map(float, rows[-1])))
            self.expect(0, "init", "n.mo", "-q", "--start-from", "n.csv", "--write", "list")
            words = ["simulate", "n.mo", "-q", "--start-values", "list", "--output-file", "-", "--intervals", "2"]
            again = self.expect(0, *words).stdout.decode()
            header, first, *_ = csv.reader(io.StringIO(again, newline=""))
            found = dict(zip(header, map(float, first)))
            self.assertEqual({name: found[column(name)] for name in names}, {name: last[column(name)] for name in names})

    def on_a_terminal(self, *words):
        """The text that a terminal gets on standard output and standard error."""
        parent, child = pty.openpty()
        process = subprocess.Popen([DAEDAL, *words], cwd=self.path, stdout=child, stderr=child, env=dict(os.environ, TERM="xterm", NO_COLOR="1"))
        os.close(child)
        shown = b""
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                piece = b""
            if not piece:
                break
            shown += piece
        os.close(parent)
        process.wait()
        return shown.decode().replace("\r\n", "\n")

    def test_terminals_get_no_control_characters(self):
        for names, text in itertools.islice(self.models(), 4):
            self.write("n.mo", text)
            self.write("bad.mo", text.replace("equation\n", "equation\n  " + quoted(names[0]) + " = 1;\n"))
            for words in (["check", "n.mo"], ["flatten", "n.mo"], ["analyze", "n.mo"], ["init", "n.mo"], ["reduce", "n.mo"],
                          ["simulate", "n.mo", "-v", "--intervals", "2", "--plot", "-"], ["simulate", "n.mo", "--output-file", "-"],
                          ["check", "bad.mo"], ["analyze", "bad.mo"], ["check", "none\x1b[2J\n.mo"], ["check", "n.mo", "--\x1b[2J"],
                          ["init", "n.mo", "--override", "\x1b[2J=1"], ["check", "n.mo", "--dump", "flat"]):
                shown = self.on_a_terminal(*words)
                self.assertFalse(re.findall(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", shown), (words, shown))
            table = self.expect(0, "init", "n.mo").stdout.decode().split("  degrees of freedom")[0]
            self.assertEqual(table.count("\n"), 1 + 2 * len(names), table)


@unittest.skipIf(SANITIZED, "the sanitizer takes more address space than there is")
class Memory(Folder):
    def test_little_address_space(self):
        """For every refused allocation, also of the linear algebra library, the command ends and says so."""
        pendulum = SOURCE / "examples/pendulum.mo"
        ends = set()

        def limited(size, *words):
            return self.run_daedal(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20)))

        # the system and its loader need memory, too, before the command begins
        sizes = [size for size in range(24, 120, 8) if limited(size, "--version").returncode == 0]
        for words in (["compare", pendulum, "--methods", "dummy,strangeness"], ["steady", "m.mo"], ["simulate", pendulum, "--method", "strangeness"]):
            for size in sizes:
                run = limited(size, *words, "-q")
                self.assertIn(run.returncode, (0, 1), (words, size, run.stderr))
                self.assertEqual(b"out of memory" in run.stderr, run.returncode == 1, (words, size, run.stderr))
                ends.add(run.returncode)
        self.assertEqual(ends, {0, 1})


if __name__ == "__main__":
    unittest.main()
