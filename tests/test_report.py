"""The page of a report: it contains the results of the run, loads nothing from elsewhere, and shows them in a browser if there is
one."""
import base64
import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
DAEDAL = os.environ["DAEDAL"]
EXAMPLES = SOURCE / "examples"
# Sanitizers and a browser together take long, and the page is the same.
BROWSER = None if os.environ.get("BUILD_KIND") in ("asan", "tsan") else shutil.which("chromium")
FIVE = [("pendulum.mo", ["--animate", "0,0;x,y", "--compare", "--methods", "dummy,underlying"]), ("slider_crank.mo", []),
        ("events/bouncing_ball.mo", ["--animate", "time,h"]), ("circuits/astable.cir", []), ("triple_pendulum.mo", ["--invariant", "E"])]


class Folder(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.path = pathlib.Path(self.holder.name)

    def report(self, model, *words, code=0):
        run = subprocess.run([DAEDAL, "report", str(model), "-o", "r.html", *words], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        page = self.path / "r.html"
        return (page.read_text(encoding="utf-8"), run.stderr) if page.exists() else (None, run.stderr)

    def data(self, page):
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])

    def write(self, text):
        (self.path / "m.mo").write_text(text)
        return "m.mo"


def values(data, name):
    signal = next(one for one in data["signals"] if one["name"] == name)
    if "constant" in signal:
        return [signal["constant"]] * data["rows"]
    raw = base64.b64decode(signal["values"])
    return struct.unpack(f"<{data['rows']}{'f' if data['format'] == 'f4' else 'd'}", raw)


class Page(Folder):
    def test_nothing_is_loaded(self):
        for model, words in FIVE:
            page, _ = self.report(EXAMPLES / model, *words)
            without = page.replace("http://www.w3.org/2000/svg", "").replace(html.escape("http://www.w3.org/2000/svg"), "")
            for pattern in (r"https?://", r"\bsrc\s*=", r"@import", r"url\(", r"<link", r"<iframe", r"XMLHttpRequest", r"fetch\("):
                self.assertIsNone(re.search(pattern, without), (model, pattern))
            self.assertIn("default-src 'none'", page)

    def test_values_are_those_of_the_run(self):
        page, _ = self.report(EXAMPLES / "pendulum.mo")
        data = self.data(page)
        subprocess.run([DAEDAL, "simulate", EXAMPLES / "pendulum.mo", "--output-file", "r.csv", "-q"], cwd=self.path, check=True)
        rows = [line.split(",") for line in (self.path / "r.csv").read_text().splitlines()]
        column = rows[0].index("lambda")
        self.assertEqual([float(row[column]) for row in rows[1:]], list(values(data, "lambda")))
        self.assertEqual(data["shown"], ["y", "vy"])
        self.assertEqual(data["analysis"]["structural_index"], 3)
        self.assertEqual(data["residuals"]["points"], data["rows"])
        self.assertIn("-o r.html", data["command"])

    def test_choices(self):
        page, _ = self.report(EXAMPLES / "pendulum.mo", "--variables", "x,y", "--plot-variables", "x", "--compare", "--methods", "dummy")
        data = self.data(page)
        self.assertEqual([one["name"] for one in data["signals"]], ["x", "y"])
        self.assertEqual(data["shown"], ["x"])
        self.assertEqual([one["method"] for one in data["comparison"]["runs"]], ["dummy"])
        self.report(EXAMPLES / "pendulum.mo", "--animate", "x,z", code=2)
        self.report(EXAMPLES / "pendulum.mo", "--animate", "x", code=2)
        self.report(EXAMPLES / "pendulum.mo", "--variables", "zz", code=2)

    def test_failures_have_a_page(self):
        for text, code, status in (("model M\n  Real x;\nequation\n  x = ;\nend M;\n", 3, "input"),
                                   ("model M\n  Real x, y;\nequation\n  x = time;\nend M;\n", 4, "unbalanced"),
                                   ("model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = x^2;\nend M;\n", 6, "integration")):
            page, _ = self.report(self.write(text), "--stop-time", "2", code=code)
            data = self.data(page)
            self.assertEqual(data["run"]["status"], status)
            self.assertTrue(data["run"]["diagnostics"][0]["code"].startswith(f"D{code}"))
            self.assertEqual(data["text"], text)

    def test_names_cannot_leave_their_place(self):
        name = "'</script><img src=x onerror=alert(1)>'"
        page, _ = self.report(self.write(f"model M\n  Real {name}(start = 1, fixed = true);\nequation\n  der({name}) = -{name};\nend M;\n"))
        self.assertEqual(page.count("</script>"), 2)
        self.assertIn(name.strip("'"), {one["name"] for one in self.data(page)["signals"]})

    def test_default_name(self):
        subprocess.run([DAEDAL, "report", EXAMPLES / "pendulum.mo", "-q"], cwd=self.path, check=True)
        self.assertTrue((self.path / "Pendulum.html").exists())


    def test_initial_values_of_discrete_variables(self):
        page, _ = self.report(EXAMPLES / "events/bouncing_ball.mo")
        found = {one["name"]: one["value"] for one in self.data(page)["initial"]["values"]}
        self.assertEqual(found["bounces"], 0)


@unittest.skipUnless(BROWSER, "there is no chromium")
class Browser(Folder):
    def shown(self, *words):
        profile = self.path / "profile"
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom",
                               "--enable-logging=stderr", *words, f"file://{self.path}/r.html"], capture_output=True, text=True)
        self.assertNotRegex(done.stderr, r"CONSOLE.*(Error|Refused)")
        return done.stdout

    def test_sections(self):
        self.report(EXAMPLES / "pendulum.mo", "--animate", "0,0;x,y", "--compare", "--methods", "dummy")
        page = self.shown()
        titles = re.findall(r'<h2 id="(\w+)-title">', page)
        self.assertEqual(titles, ["model", "structure", "initial", "trajectories", "animation", "constraints", "happenings", "comparison",
                                  "statistics", "reproduce"])
        self.assertGreaterEqual(page.count("<math"), 5)
        self.assertGreaterEqual(page.count("<canvas"), 3)
        self.assertIn('data-line="14"', page)
        self.assertNotIn("[object", page)

    def test_failure_is_shown(self):
        self.report(self.write("model M\n  Real x;\nequation\n  x = ;\nend M;\n"), code=3)
        page = self.shown()
        self.assertIn('class="said"', page)
        self.assertIn("D301", page)

    def test_many_points(self):
        """A page with 100000 points per signal is drawn completely; bench/report measures how long it takes."""
        self.report(EXAMPLES / "pendulum.mo", "--intervals", "100000")
        self.assertRegex(self.shown(), r'data-ready="(\d+) (\d+)"')

    def test_narrow_page(self):
        """At 500 pixels, long formulas break or scroll, and the page does not scroll."""
        page, _ = self.report(EXAMPLES / "circuits/common_emitter.cir")
        measure = "<script>document.body.dataset.width = `${document.documentElement.scrollWidth} ${innerWidth}`</script></body>"
        (self.path / "r.html").write_text((self.path / "r.html").read_text().replace("</body>", measure))
        width, window = map(int, re.search(r'data-width="(\d+) (\d+)"', self.shown("--window-size=500,900")).groups())
        self.assertLessEqual(window, 500)
        self.assertLessEqual(width, window)

    def test_names_of_components_are_no_letters(self):
        self.report(self.write("model M\n  model P Real u(start = 1), y; equation u^2 = 1 + sin(time); y = der(u); end P;\n  P pi;\n"
                               "  Real phi(start = 1), z;\nequation\n  phi^3 = 1 + pi.u;\n  z = der(phi);\nend M;\n"), "--stop-time", "0.1")
        formulas = "".join(re.findall(r"<math.*?</math>", self.shown(), re.S))
        self.assertIn("<mtext>pi.</mtext><mi>u</mi>", formulas)
        self.assertNotIn("π", formulas)
        self.assertRegex(formulas, r"<mi>φ</mi>")


if __name__ == "__main__":
    unittest.main()
