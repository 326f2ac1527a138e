"""The table of docs/indices.md: each index of each model, as the command gives it."""
import json
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])


def report(*words):
    done = subprocess.run([os.environ["DAEDAL"], "analyze", *map(str, words), "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout)


class Indices(unittest.TestCase):
    def test_table(self):
        rows = re.findall(r"^\| `(\S+\.mo)` \| (\d) \| (\d) \| (\d) \| (\d) \|$", (SOURCE / "docs/indices.md").read_text(), re.MULTILINE)
        self.assertGreaterEqual(len(rows), 4)
        for name, *said in rows:
            structure, ranks = report(SOURCE / name), report(SOURCE / name, "--method", "strangeness")["strangeness"]
            found = [structure["structural_index"], structure["index_true"], ranks["mu"], ranks["differentiation_index"]]
            self.assertEqual(found, list(map(int, said)), name)


if __name__ == "__main__":
    unittest.main()
