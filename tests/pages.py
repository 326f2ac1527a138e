"""Pages as tests: the commands of a page are run, and must print what the page says.

A fenced block with a file name behind its language (```modelica pendulum.mo) is a file; a block `console` has commands after
`$ ` and what they print below, standard output and standard error together. A line `...` stands for any lines; `...` within
a line stands for anything; numbers that differ from run to run are not to be shown otherwise. Blocks of a section share a
folder; a heading of level 1 or 2 begins with an empty one, but for what `examples` has. Files of the examples are where the
commands look for them."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = pathlib.Path(os.environ["DAEDAL"])
SANITIZED = os.environ.get("BUILD_KIND") in ("asan", "tsan")
FENCE = re.compile(r"^```(\S*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)


def sections(page):
    """The text of the page in pieces, each from a heading to the next."""
    text = page.read_text(encoding="utf-8")
    starts = [match.start() for match in HEADING.finditer(FENCE.sub(lambda fence: "x" * len(fence.group(0)), text))]
    return [text[begin:end] for begin, end in zip(starts, starts[1:] + [len(text)])]


def pattern_of(expected):
    """The regular expression that what a command prints must match as a whole."""
    lines = expected.rstrip("\n").split("\n") if expected.strip() else []
    pieces = [r"(?:.*\n)*?" if line.strip() == "..." else r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
              for line in lines]
    return re.compile("".join(pieces) + r"\Z")


def commands(block):
    """(command, what it prints) of a console block; a command goes on behind a backslash at the end of its line."""
    for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)\Z", piece, re.DOTALL).groups()
        yield command, expected


def run_command(command, folder):
    path = f"{DAEDAL.parent}:/usr/bin:{os.environ['PATH']}"
    environment = dict(os.environ, PATH=path, PYTHONPATH=str(SOURCE / "python"),
                       DAEDAL_LIBRARY=str(DAEDAL.parent / "libdaedal.so"), LC_ALL="C.UTF-8", TERM="dumb")
    return subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          env=environment)


def run_section(section, folder, failures, title):
    for language, name, body in FENCE.findall(section):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(body)
        elif language == "console":
            for command, expected in commands(body):
                if command.startswith("python3") and SANITIZED: # the interpreter has no sanitizer
                    continue
                done = run_command(command, folder)
                if not pattern_of(expected).match(done.stdout):
                    failures.append(f"{title}: $ {command}\nexpected:\n{expected}\nfound:\n{done.stdout}")


def fresh_folder(holder):
    folder = pathlib.Path(holder)
    shutil.copytree(SOURCE / "examples", folder / "examples", dirs_exist_ok=True)
    return folder


def check_page(page, one_folder):
    """Failures of a page. one_folder: its sections build on each other."""
    failures = []
    with tempfile.TemporaryDirectory() as common:
        for section in sections(page):
            title = f"{page.name}, {section.splitlines()[0].lstrip('# ')}"
            if one_folder:
                run_section(section, fresh_folder(common), failures, title)
            elif "```console" in section:
                with tempfile.TemporaryDirectory() as own:
                    run_section(section, fresh_folder(own), failures, title)
    return failures
