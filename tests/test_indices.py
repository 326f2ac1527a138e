"""The table of docs/indices.md: each index of each model, as the command gives it."""
import json
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])


def report(*words, command="analyze"):
    done = subprocess.run([os.environ["DAEDAL"], command, *map(str, words), "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout)


class Indices(unittest.TestCase):
    def test_table(self):
        rows = re.findall(r"^\| `(\S+\.mo)` \| (\d) \| (\d) \| (\d) \| (\d) \| (\d|none) \|$", (SOURCE / "docs/indices.md").read_text(), re.MULTILINE)
        self.assertGreaterEqual(len(rows), 4)
        for name, *said in rows:
            structure, ranks = report(SOURCE / name), report(SOURCE / name, "--method", "strangeness")["strangeness"]
            pencil = report(SOURCE / name, "--propagation", command="init")["propagation"]["index"]
            found = [structure["structural_index"], structure["index_true"], ranks["mu"], ranks["differentiation_index"], pencil]
            self.assertEqual(found, [None if each == "none" else int(each) for each in said], name)


if __name__ == "__main__":
    unittest.main()
