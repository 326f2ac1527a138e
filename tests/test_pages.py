"""The pages tell the truth: their commands run and print what they say; each code of a message has its section."""
import re
import subprocess
import sys

from pages import DAEDAL, SOURCE, check_page

# Pages whose sections build on each other, and pages whose sections stand alone.
TOGETHER = ["docs/tutorial.md"]
ALONE = ["docs/messages.md", "README.md"]


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
            failures.append(f"messages.md explains {code} otherwise")
    return failures


def check_made_pages():
    """Pages that are made from something else are those that would be made now; the gallery has each example that runs."""
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


def check_links():
    """Links between the pages lead somewhere."""
    failures = []
    for page in [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                failures.append(f"{page.name} links to {target}, which is not there")
    return failures


def main():
    failures = check_codes() + check_made_pages() + check_links()
    for names, one_folder in ((TOGETHER, True), (ALONE, False)):
        for name in names:
            if (SOURCE / name).exists():
                failures += check_page(SOURCE / name, one_folder)
    print("\n\n".join(failures) or "fine")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
