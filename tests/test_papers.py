"""docs/papers.md is true: every row's command runs, and gives the figure of the row."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
NAMES = {"round": round, "len": len, "abs": abs}


class Report(dict):
    """JSON whose members are attributes, too."""

    def __getattr__(self, name):
        return self[name]


def rows():
    for line in (SOURCE / "docs/papers.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 5 and cells[1].startswith("`daedal "):
            yield [cell.strip("`") for cell in cells]


def run(command, folder):
    words = command.split()[1:]
    if words[0] == "simulate":
        words += ["--output-file", f"{folder}/out.csv"]
    done = subprocess.run([DAEDAL, *words, "--quiet", "--json", "-"], capture_output=True, text=True, cwd=SOURCE)
    return json.loads(done.stdout, object_hook=Report) if done.returncode == 0 else None


def agrees(value, cell):
    """Does the figure agree with the cell: a value to the digits shown, or a bound?"""
    if isinstance(value, (bool, str, list)):
        return (str(value).lower() if isinstance(value, bool) else str(value)) == cell
    if cell.startswith("below "):
        return abs(value) < float(cell.removeprefix("below "))
    if "." in cell:
        return abs(value - float(cell)) <= 0.51 * 10.0 ** -len(cell.partition(".")[2])
    return value == float(cell)


class Papers(unittest.TestCase):
    def test_rows(self):
        listed, reports = list(rows()), {}
        text = (SOURCE / "docs/papers.md").read_text()
        self.assertEqual(len(listed), len(re.findall(r"^\| .* `daedal ", text, re.MULTILINE)))
        self.assertGreater(len(listed), 150)
        with tempfile.TemporaryDirectory() as folder:
            for what, command, reads, _, cell in listed:
                with self.subTest(what=what):
                    if command not in reports:
                        reports[command] = run(command, folder)
                    self.assertIsNotNone(reports[command], command)
                    value = eval(reads, {**NAMES, **reports[command]})
                    self.assertTrue(agrees(value, cell), f"{command}: {reads} is {value!r}, the page says {cell}")

    def test_energy(self):
        """With as many steps as DASSL took, ida and bdf keep the energy of model c as well as DASSL did."""
        found = [(float(row[3]), float(row[4].removeprefix("below "))) for row in rows() if row[2] == "invariants[0].change" and ("with as many" in row[0] or "bdf" in row[0])]
        self.assertEqual(len(found), 2)
        for paper, ours in found:
            self.assertLessEqual(abs(ours), abs(paper))


if __name__ == "__main__":
    unittest.main()
