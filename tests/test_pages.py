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


def main():
    failures = check_codes()
    for names, one_folder in ((TOGETHER, True), (ALONE, False)):
        for name in names:
            if (SOURCE / name).exists():
                failures += check_page(SOURCE / name, one_folder)
    print("\n\n".join(failures) or "fine")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
