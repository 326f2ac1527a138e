"""Fits: exact data gives the parameters back, errors are those of linear theory, bounds hold, and parameters that the data does not determine are named."""
import csv
import io
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

DAEDAL, SOURCE, KIND = os.environ["DAEDAL"], pathlib.Path(os.environ["SOURCE_DIR"]), os.environ["BUILD_KIND"]
CRANK = str(SOURCE / "examples/slider_crank.mo")
WORK = pathlib.Path(tempfile.mkdtemp())

DECAY = """model Decay
  parameter Real a = 1, k = 1, unused = 5, b = 2, c = 3;
  Real x(start = 1, fixed = true), y, z;
equation
  der(x) = -k*x; y = a*x; z = (b*c)*time;
end Decay;
"""


def command(*arguments, status=0):
    done = subprocess.run([DAEDAL, *arguments], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def fit(model, data, parameters, *arguments):
    done = command("fit", model, "--data", data, "--parameters", parameters, "--json", "report.json", *arguments)
    report = json.loads((WORK / "report.json").read_text())
    return report, {p["name"]: p for p in report["parameters"]}, done.stderr


def write(name, header, rows):
    (WORK / name).write_text(header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    return name


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.decay = str(WORK / "decay.mo")
        pathlib.Path(cls.decay).write_text(DECAY)
        cls.times = [0.05 * k for k in range(41)]

    def test_exact_data(self):
        data = write("exact.csv", "time,y", [(t, 1.7 * math.exp(-0.6 * t)) for t in self.times])
        report, found, _ = fit(self.decay, data, "a=1,k=1")
        self.assertAlmostEqual(found["a"]["value"], 1.7, delta=1e-6)
        self.assertAlmostEqual(found["k"]["value"], 0.6, delta=1e-6)
        self.assertEqual(report["unidentified"], [])

    def test_residuals_that_are_not_noise(self):
        """Noise is accepted as noise, missing effects of the model are named, and so are residuals beyond the given deviations."""
        draw = random.Random(5)
        for size in (0.01, 0.05, 0.2):
            noise = [(t, 1.7 * math.exp(-0.6 * t) + draw.gauss(0, size)) for t in self.times]
            report, _, said = fit(self.decay, write("noise.csv", "time,y", noise), "a=1,k=1", "--deviations", f"y={size}")
            self.assertTrue(report["columns"][0]["noise"] and abs(report["columns"][0]["lag_correlation"]) < 0.5)
            self.assertNotIn("noise", said)
            _, _, said = fit(self.decay, "noise.csv", "a=1,k=1", "--deviations", f"y={size / 3}")
            self.assertIn("times the deviations given", said)
            wave = [(t, y + 4 * size * math.sin(draw.choice((2.9, 3)) * t)) for t, y in noise]
            report, _, said = fit(self.decay, write("wave.csv", "time,y", wave), "a=1,k=1")
            self.assertFalse(report["columns"][0]["noise"])
            self.assertIn("the residuals of y are not noise", said)

    def test_drawn_residuals(self):
        """Noise of several kinds is accepted as noise, except for one draw in a thousand. Waves of any period, jumps, ramps and bumps that are six times larger are not accepted."""
        count, alarms = 300 if os.environ.get("DAEDAL_TEST_TIER") == "long" else 16, 0
        for seed in range(count):
            draw = random.Random(seed)
            size, n = 10 ** draw.uniform(-2, -0.5), draw.choice((41, 60, 120, 200))
            times = [2 * k / (n - 1) for k in range(n)]
            noise = {"normal": lambda: draw.gauss(0, size), "uniform": lambda: draw.uniform(-2 * size, 2 * size), "laplace": lambda: draw.choice((-1, 1)) * draw.expovariate(1 / size)}[
                draw.choice(("normal", "uniform", "laplace"))]
            rows = [(t, 1.7 * math.exp(-0.6 * t) + noise()) for t in times]
            report, _, said = fit(self.decay, write("drawn.csv", "time,y", rows), "a=1,k=1")
            alarms += not report["columns"][0]["noise"]
            self.assertEqual("not noise" in said, not report["columns"][0]["noise"])
            period, phase, at = draw.uniform(2.2, n / 2), draw.uniform(0, 6), draw.uniform(0.3, 0.7) * n
            missed = {"wave": lambda k: math.sin(2 * math.pi * k / period + phase), "square": lambda k: 1 if k % period < period / 2 else -1, "jump": lambda k: 2 * (k > at),
                      "ramp": lambda k: 4 * max(0, k - at) / (n - at), "bump": lambda k: 2 * math.exp(-((k - at) / (0.08 * n)) ** 2)}
            kind = draw.choice(list(missed))
            rows = [(t, y + 6 * size * missed[kind](k)) for k, (t, y) in enumerate(rows)]
            report, _, said = fit(self.decay, write("drawn.csv", "time,y", rows), "a=1,k=1")
            with self.subTest(seed=seed, kind=kind, n=n, period=period):
                self.assertIn("the residuals of y are not noise", said)
                self.assertFalse(report["columns"][0]["noise"])
        self.assertLessEqual(alarms, 1 + count // 200)

    def test_slider_crank(self):
        text = command("simulate", CRANK, "--stop-time", "1", "--intervals", "40", "--tolerance", "1e-10", "--output-file", "-", "-q").stdout
        rows = [(float(r["time"]), float(r["phi"]), float(r["s"])) for r in csv.DictReader(io.StringIO(text))]
        _, found, _ = fit(CRANK, write("crank.csv", "time,phi,s", rows), "J=0.25,m=1.2,w=5.5")
        for name, value in (("J", 0.3), ("m", 1.5), ("w", 6)):
            self.assertAlmostEqual(found[name]["value"], value, delta=1e-4)

    def test_errors_of_linear_theory(self):
        """y = a*exp(-k*t) is linear in a: value, error and interval are known."""
        rng = random.Random(3)
        base = [math.exp(-t) for t in self.times]
        measured = [2 * b + rng.gauss(0, 0.1) for b in base]
        data = write("noisy.csv", "time,y", list(zip(self.times, measured)))
        square = sum(b * b for b in base)
        value = sum(b * m for b, m in zip(base, measured)) / square
        s = math.sqrt(sum((m - value * b) ** 2 for b, m in zip(base, measured)) / (len(base) - 1))
        report, found, _ = fit(self.decay, data, "a")
        self.assertAlmostEqual(found["a"]["value"], value, delta=1e-6)
        self.assertAlmostEqual(found["a"]["error"], s / math.sqrt(square), delta=1e-6)
        self.assertAlmostEqual(report["deviation"], s, delta=1e-6)
        self.assertAlmostEqual((found["a"]["high"] - value) / found["a"]["error"], 2.021075, delta=1e-5)  # Student's with 40
        _, bounded, _ = fit(self.decay, data, "a=1:0:inf")
        self.assertAlmostEqual(bounded["a"]["value"], value, delta=1e-6)
        report, found, _ = fit(self.decay, data, "a", "--deviations", "y=0.1")
        self.assertAlmostEqual(found["a"]["error"], 0.1 / math.sqrt(square), delta=1e-6)
        self.assertAlmostEqual((found["a"]["high"] - value) / found["a"]["error"], 1.959964, delta=1e-5)
        self.assertAlmostEqual(report["deviation"], s / 0.1, delta=1e-4)

    def test_weights_and_gaps(self):
        """Two columns that contradict each other: the heavier one decides. Empty measurements are left out."""
        rows = [(t, 1.5 * math.exp(-t) if k % 2 else math.nan, 3 * math.exp(-t)) for k, t in enumerate(self.times)]
        data = write("two.csv", "time,y,x", rows)
        report, found, _ = fit(self.decay, data, "a,x=1", "--weights", "y=100")
        self.assertEqual([c["values"] for c in report["columns"]], [20, 41])
        self.assertAlmostEqual(found["a"]["value"], 0.5, delta=1e-5)
        self.assertAlmostEqual(found["x"]["value"], 3, delta=1e-5)

    def test_bounds(self):
        data = write("exact.csv", "time,y", [(t, 1.7 * math.exp(-0.6 * t)) for t in self.times])
        _, found, _ = fit(self.decay, data, "a=1:0:1.5,k=1:0.1:10")
        self.assertEqual((found["a"]["value"], found["a"]["at_bound"], found["a"]["error"]), (1.5, True, None))
        self.assertTrue(0.1 < found["k"]["value"] < 0.6 and found["k"]["error"] > 0)

    def test_identifiability(self):
        data = write("z.csv", "time,z,y", [(t, 8 * t, 1.5 * math.exp(-t)) for t in self.times])
        report, found, words = fit(self.decay, data, "b=2,c=3,a=1,unused=1")
        self.assertEqual(len(report["unidentified"]), 2)
        self.assertAlmostEqual(found["a"]["value"], 1.5, delta=1e-6)
        self.assertAlmostEqual(found["b"]["value"] * found["c"]["value"], 8, delta=1e-5)
        self.assertTrue(found["b"]["error"] is None and found["unused"]["error"] is None and found["a"]["error"] is not None)
        self.assertIn("does not determine a parameter: changing unused", words)
        self.assertIn("does not distinguish these parameters", words)

    def test_derivatives(self):
        """Sensitivities need one run per iteration. If a model has no sensitivities, or none after some event, differences
        lead to the same result."""
        text = """model Tank
          parameter Real k = 1, level = 0.5;
          Real h(start = 1, fixed = true){declaration};
        equation
          der(h) = -k*h{term};{equation}
        end Tank;"""
        variants = {"smooth": ("", "", ""), "delayed": (", d", "", " d = delay(h, 0.1);"),
                    "switched": ("", "*(if h < level then 0.5 else 1)", ""),
                    "sliding": ("", " + (if h < level then 1 else -1)", "")}
        runs = {}
        for name, (declaration, term, equation) in variants.items():
            model = WORK / f"{name}.mo"
            model.write_text(text.format(declaration=declaration, term=term, equation=equation))
            command("simulate", str(model), "--override", "k=0.8,level=0.45", "--stop-time", "2", "--intervals", "40", "--no-event-rows",
                    "--tolerance", "1e-10", "--output-file", "tank.csv", "--variables", "h", "-q")
            report, found, _ = fit(str(model), "tank.csv", "k=1,level=0.47" if name in ("switched", "sliding") else "k=1")
            self.assertAlmostEqual(found["k"]["value"], 0.8, delta=1e-4, msg=name)
            runs[name] = report["simulations"] - 2 * report["iterations"]
        self.assertLessEqual(runs["smooth"], 3)
        self.assertLessEqual(runs["switched"], 3)
        self.assertGreater(runs["delayed"], 4)
        self.assertGreater(runs["sliding"], 4)

    def test_picture(self):
        data = write("exact.csv", "time,y", [(t, 1.7 * math.exp(-0.6 * t)) for t in self.times])
        fit(self.decay, data, "a=1,k=1", "--plot", "fit.svg")
        root = xml.etree.ElementTree.parse(WORK / "fit.svg").getroot()
        self.assertIn("measured", [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")])

    def test_refused(self):
        data = write("exact.csv", "time,y", [(0.0, 1.0), (1.0, 0.5)])
        wrong = write("wrong.csv", "time,q", [(0.0, 1.0), (1.0, 0.5)])
        for arguments, status, words in ((["--data", data, "--parameters", "q=1"], 2, "no variable 'q'"),
                                         (["--data", data, "--parameters", "a=5:0:1"], 2, "not within its bounds"),
                                         (["--data", data, "--parameters", "a=x"], 2, "not of the form"), (["--data", data], 2, "fit needs"),
                                         (["--data", wrong, "--parameters", "a=1"], 2, "no value of any variable"),
                                         (["--data", "none.csv", "--parameters", "a=1"], 7, "none.csv"),
                                         (["--data", data, "--parameters", "a", "--weights", "z=1"], 2, "no column 'z'")):
            self.assertIn(words, command("fit", self.decay, *arguments, status=status).stderr)


if __name__ == "__main__":
    try:
        unittest.main()
    finally:
        shutil.rmtree(WORK)
