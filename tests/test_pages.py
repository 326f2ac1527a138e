"""The pages are true: their commands run and print the text shown; each message code has its section."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from pages import DAEDAL, SANITIZED, SOURCE, check_pages, run_command

MADE = ("gallery.md", "papers.md", "reference.md")  # test_gallery.py and test_papers.py run the first two pages; the last page has no commands
OTHERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md")
SHORT = ("README.md", "tutorial.md", "messages.md")  # enough for sanitizers


def pages():
    found = [SOURCE / name for name in OTHERS] + sorted((SOURCE / "docs").rglob("*.md"))
    return [page for page in found if page.name not in MADE and (page.name in SHORT or not SANITIZED)]


def check_codes():
    """The page of messages has the codes, titles and explanations of the table."""
    page = (SOURCE / "docs/messages.md").read_text()
    listed = subprocess.run([DAEDAL, "explain"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = re.findall(r"^### (D\d+): (.*)$", page, re.MULTILINE)
    expected = [tuple(line.split("  ", 1)) for line in listed]
    failures = [] if found == expected else [f"messages.md has other codes than `daedal explain`: {set(found) ^ set(expected)}"]
    for code, title in expected:
        said = subprocess.run([DAEDAL, "explain", code], capture_output=True, text=True, check=True).stdout.split("\n\n", 1)[1].strip()
        if said not in page:
            failures.append(f"messages.md explains {code} in other words")
    return failures


def check_made_pages():
    """Generated pages are up to date; the gallery has each example that runs."""
    failures = []
    if subprocess.run([sys.executable, SOURCE / "tools/make_reference", "--check"]).returncode:
        failures.append("docs/reference.md is not that of daedal.h: make reference")
    gallery = (SOURCE / "docs/gallery.md").read_text()
    for path in (SOURCE / "examples").rglob("*.mo"):
        name = path.relative_to(SOURCE / "examples").as_posix()
        if f"### {name}\n" not in gallery:
            failures.append(f"{name} is not in the gallery: make gallery")
    for link in re.findall(r"\]\((gallery/[^)]*)\)", gallery):
        if not (SOURCE / "docs" / link).exists():
            failures.append(f"the gallery lacks {link}: make gallery")
    return failures


def anchors(page):
    """What a link to the page may have after `#`: its headings, as GitHub names them, and its own anchors."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = (re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return set(re.findall(r'<a id="([^"]+)"', text)) | {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def check_links():
    """Links between the pages have targets."""
    failures = []
    for page in [*(SOURCE / name for name in (*OTHERS, "CHANGELOG.md", "tests/library/README.md")), *(SOURCE / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", text):
            file = page.parent / target if target else page
            if re.match(r"[a-z]+:", target):
                continue
            if not file.exists() or anchor and file.suffix == ".md" and anchor not in anchors(file):
                failures.append(f"{page.name} links to {target}#{anchor}, which is not there")
    return failures


def check_manual():
    """The examples of the manual page run; the programs they pipe into may be missing."""
    failures = []
    with tempfile.TemporaryDirectory() as holder:
        folder = pathlib.Path(holder)
        shutil.copy(SOURCE / "examples/pendulum.mo", folder)
        for command in re.findall(r"^\.Dl \$ (.*)$", (SOURCE / "docs/daedal.1").read_text(), re.MULTILINE):
            first, _, rest = command.partition(" | ")
            done = run_command(command if rest and shutil.which(rest.split()[0]) else first, folder)
            if done.returncode:
                failures.append(f"daedal.1: $ {command}\n{done.stdout}")
    return failures


def main():
    failures = check_codes() + check_made_pages() + check_links() + check_manual() + check_pages(pages())
    print("\n\n".join(failures) or "fine")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
