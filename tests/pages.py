"""Pages as tests: the commands of a page are run, and must print the text of the page.

- A fenced block with a file name after its language (```modelica pendulum.mo) is a file.
- A block `console` has commands after `$ ` and their output below, standard output and standard error together. A line
  `...` stands for any lines; `...` within a line stands for anything; numbers that differ from run to run must be written as `...`. If a block shows no output at all, its commands must succeed.
- `console needs TOOL ...` is skipped if a tool is missing; `console by hand` is not run by the test, because it takes minutes or changes the machine. Both are counted.
- Blocks `python` without a name are one program, which must run.
- `daedal COMMAND MODEL.mo ...` within a line is run too, and must succeed. Where the model is a capital letter or none is given,
  the command and its options must exist; so must targets of make and benches.

Commands appear nowhere else. A page has its own folder, with the examples in it, and its blocks build on each other."""
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = pathlib.Path(os.environ["DAEDAL"])
SANITIZED = os.environ.get("BUILD_KIND") in ("asan", "tsan")
PIECE = re.compile(r"^```(?P<language>\S*)(?: (?P<info>[^\n]*))?\n(?P<body>.*?)^```$|(?<!`)`(?P<inline>[^`]+)`(?!`)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:    )?(?:\$|daedal|make|mpirun|python3|ngspice|bench/\w+/run)(?: |$)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@functools.cache
def words_of_help(*words):
    done = subprocess.run([DAEDAL, *words, "--help"], capture_output=True, text=True, check=True)
    return set(OPTION.findall(done.stdout)) if words else set(re.findall(r"^  (\w[\w-]*) ", done.stdout, re.MULTILINE))


@functools.cache
def all_options():
    return {"--help", "--version"}.union(*(words_of_help(command) for command in words_of_help()))


@functools.cache
def targets():
    return set(re.findall(r"^([\w-]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))


def pattern_of(expected):
    """The regular expression that the whole output of a command must match."""
    lines = expected.rstrip("\n").split("\n") if expected.strip() else []
    pieces = [r"(?:.*\n)*?" if line.strip() == "..." else r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
              for line in lines]
    return re.compile("".join(pieces) + r"\Z")


def commands(block):
    """(command, output) of a console block; a command continues after a backslash at the end of its line."""
    for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)\Z", piece, re.DOTALL).groups()
        yield command, expected


def run_command(command, folder):
    path = f"{SOURCE}/tests/compiler:{DAEDAL.parent}:/usr/bin:{os.environ['PATH']}"
    environment = dict(os.environ, PATH=path, PYTHONPATH=str(SOURCE / "python"), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       DAEDAL_LIBRARY=str(DAEDAL.parent / "libdaedal.so"), LC_ALL="C.UTF-8", TERM="dumb")
    return subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment)


class PageTest:
    """Tests one page: the failures, and how many commands were run, skipped because a tool is missing, or left to be run by hand."""

    def __init__(self, page):
        self.page = page
        self.failures = []
        self.run, self.skipped, self.by_hand = 0, 0, 0
        self.program = ""

    def fail(self, what):
        self.failures.append(f"{self.page.name}: {what}")

    def run_one(self, command, expected=None):
        """expected None: it must succeed, with any output."""
        if command.startswith("python3") and SANITIZED:  # the interpreter has no sanitizer
            self.skipped += 1
            return
        # this interpreter has NumPy, others may not
        done = run_command(re.sub(r"^python3\b", sys.executable, command), self.folder)
        self.run += 1
        if expected is None and done.returncode:
            self.fail(f"$ {command}\nends with status {done.returncode}:\n{done.stdout}")
        elif expected is not None and not pattern_of(expected).match(done.stdout):
            self.fail(f"$ {command}\nexpected:\n{expected}\nfound:\n{done.stdout}")

    def run_console(self, info, body):
        listed = list(commands(body))
        words = info.split()
        if words[:2] == ["by", "hand"]:
            self.by_hand += len(listed)
        elif words and (words[0] != "needs" or len(words) == 1):
            self.fail(f"`console {info}` is neither `needs TOOL` nor `by hand`")
        elif any(not shutil.which(tool) for tool in words[1:]):
            self.skipped += len(listed)
        else:
            is_silent = not any(expected.strip() for _, expected in listed)
            for command, expected in listed:
                self.run_one(command, None if is_silent else expected)

    def check_form(self, words, text):
        """Checks a command that stands for many: its name and options must exist."""
        command = words[1] if len(words) > 1 else None
        if not command or command.startswith("-") or command.isupper():
            unknown = set(OPTION.findall(text)) - all_options()
        elif command not in words_of_help():
            unknown = {command}
        else:
            unknown = set(OPTION.findall(text)) - words_of_help(command) - {"--help"}
        if unknown:
            self.fail(f"`{text}`: there is no {', '.join(sorted(unknown))}")

    def check_inline(self, text):
        text = " ".join(text.split())
        if text.startswith("daedal "):
            words = shlex.split(text.replace("...", ""))
            models = [word for word in words if re.search(r"\.(mo|cir|bmo)$", word)]
            if models and not pathlib.Path(models[0]).stem.isupper():
                self.run_one(text)
            else:
                self.check_form(words, text)
        elif text.startswith("make ") and text.split()[1] not in targets():
            self.fail(f"`{text}`: the Makefile has no such target")
        elif text.startswith("bench/") and not (SOURCE / text.split()[0]).exists():
            self.fail(f"`{text}` is not there")
        elif text.startswith("--") and not set(OPTION.findall(text)) <= all_options():
            self.fail(f"`{text}`: no command has this option")

    def check_piece(self, piece):
        language, info, body = piece["language"], piece["info"] or "", piece["body"]
        if piece["inline"]:
            self.check_inline(piece["inline"])
        elif language == "console":
            self.run_console(info, body)
        elif info:
            (self.folder / info).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / info).write_text(body)
        elif language == "python":
            self.program += body
        elif COMMAND.search(body):
            self.fail(f"a command outside of a console block: {COMMAND.search(body)[0]}")

    def check(self):
        text = self.page.read_text(encoding="utf-8")
        for line in re.findall(r"^    .*", PIECE.sub("", text), re.MULTILINE):
            if COMMAND.match(line):
                self.fail(f"a command outside of a console block: {line.strip()}")
        with tempfile.TemporaryDirectory() as holder:
            self.folder = pathlib.Path(holder)
            shutil.copytree(SOURCE / "examples", self.folder / "examples")
            for piece in PIECE.finditer(text):
                self.check_piece(piece)
            if self.program:
                (self.folder / "page.py").write_text(self.program)
                self.run_one("python3 page.py")
        return self


def check_pages(pages):
    """Failures of pages; prints how many commands were run."""
    tests = [PageTest(page).check() for page in pages]
    counts = [sum(getattr(test, name) for test in tests) for name in ("run", "skipped", "by_hand")]
    print("%d pages: %d commands run, %d skipped for want of a tool, %d by hand" % (len(tests), *counts), file=sys.stderr)
    return [failure for test in tests for failure in test.failures]
