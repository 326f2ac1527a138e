#!/usr/bin/env python3
"""Every field of a card is used, or a message names it: cards with a field, a character or a name too many; analyses that are missing;
circuits of the textbooks. No ngspice is needed."""
import csv
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

import ngspice
from runs import Run, Tally, seeds

DAEDAL = os.environ["DAEDAL"]
LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"

# Cards of one circuit in which every field counts.
CARDS = ["V1 a 0 DC 5 AC 1 SIN(0 1 1k)", "V2 w 0 2", "R1 a b 1k tc1=1e-3 m=2", "R2 b 0 R={1k*2}", "R3 b 0 rm l=10u w=1u", "C1 b 0 1u ic=2",
         "C2 b c 1n", "L1 c 0 1m", "L2 d 0 1m", "R4 d 0 50", "K1 L1 L2 0.5", "I1 0 b PULSE(0 1m 1u 1u 1u 1m 2m) m=2", "E1 e 0 b 0 2",
         "R5 e 0 1k", "E2 f 0 POLY(2) a 0 b 0 1 2 3", "R6 f 0 1k", "G1 b 0 a 0 1u m=2", "F1 b 0 V1 0.1", "H1 g 0 V1 10", "R7 g 0 1k",
         "B1 h 0 V=(V(a)+1)*2 tc1=1e-3", "R8 h 0 {twice(1k)}", "D1 b 0 dm area=2 off", "Q1 a b q qm", "R9 q 0 1k", "M1 a b s 0 mm l=1u w=10u",
         "R10 s 0 1k", "J1 a b j jm 2", "R11 j 0 1k", "S1 a b w 0 sm on", "W1 a b V2 wm", "T1 w 0 t 0 z0=50 td=1u", "R12 t 0 50",
         "X1 a b sub p=2 m=2", ".model rm r rsh=100", ".model dm d(is=1e-14)", ".model qm npn(bf=100)", ".model mm nmos(vto=1)",
         ".model jm njf(beta=1e-4)", ".model sm sw(vt=1)", ".model wm csw(it=1m)", ".subckt sub x y p=1", "R1 x y {p*1k}", ".ends sub",
         ".param k=1", ".func twice(x) {2*x}", ".ic v(b)=1", ".nodeset v(b)=1", ".temp 27", ".tran 1u 1m"]
JUNK = ["zz", "zz=1", "7", "*2", "+zz", "{1}", "=", "= 3", "'a'", "1 2 3"]


class Fields(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_text(self, text, command="simulate", *options):
        with open(self.path("n.cir"), "w", encoding="utf-8") as file:
            file.write("title\n" + text + "\n.end\n")
        return subprocess.run([DAEDAL, command, "n.cir", *options], capture_output=True, text=True, check=False,
                              cwd=self.folder.name)

    def signals(self, text, *options):
        run = self.run_text(text, "simulate", "--output-file", "o.csv", *options)
        self.assertEqual(run.returncode, 0, text + run.stderr)
        with open(self.path("o.csv"), encoding="utf-8") as file:
            rows = csv.reader(file)
            names = next(rows)
            return dict(zip(names, zip(*(map(float, row) for row in rows)))), run.stderr

    def test_circuit_is_fine(self):
        run = self.run_text("\n".join(CARDS), "check")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("warning", run.stderr)

    def test_junk_at_the_end_of_a_card(self):
        """An additional field of an element is an error; on other cards it is an error or a warning."""
        rng = random.Random(3)
        members = [(k, junk) for k in range(len(CARDS)) for junk in JUNK]
        for k, junk in members if LONG else rng.sample(members, 60):
            cards = CARDS[:k] + [f"{CARDS[k]} {junk}"] + CARDS[k + 1:]
            run = self.run_text("\n".join(cards), "check")
            said = run.stderr
            # These further fields count: a third node of a subcircuit, a factor of an expression, a coefficient of a polynomial, a
            # time, an area and, as in ngspice, any text after the parenthesis of a waveform.
            counts = (cards[k].startswith((".subckt", ".global")) or cards[k] == ".param k=1 zz=1" or
                      (CARDS[k].startswith(("R2", "X1", ".param", ".func")) and junk == "*2") or
                      (CARDS[k].startswith(("E", "H", "F", ".tran", "V1", "Q1")) and junk in ("7", "{1}", "1 2 3", "'a'")) or
                      (CARDS[k].startswith("V2") and junk == "= 3"))
            if not counts:
                self.assertTrue(run.returncode == 3 or "warning" in said, cards[k] + said)
            if CARDS[k][0] not in ".EFH" and not counts:
                self.assertEqual(run.returncode, 3, cards[k] + said)

    def test_junk_within_a_card(self):
        """A word after the nodes is refused at any position, unless it is read as a node, which is then unconnected."""
        rng = random.Random(4)
        members = [(k, place) for k, card in enumerate(CARDS) if card[0] not in ".TXEKBQMJDW" for place in range(4, len(card.split()) + 1)]
        for k, place in members if LONG else rng.sample(members, 20):
            words = CARDS[k].split()
            cards = CARDS[:k] + [" ".join(words[:place] + ["zz"] + words[place:])] + CARDS[k + 1:]
            run = self.run_text("\n".join(cards), "check")
            self.assertIn(run.returncode, (3, 4), cards[k] + run.stderr)

    def test_names_twice(self):
        for k, card in enumerate(CARDS):
            if card[0] == "." or card.startswith("R1 x"):
                continue
            run = self.run_text("\n".join(CARDS + [card]), "check")
            self.assertEqual(run.returncode, 3, card)
            self.assertIn("there is already an element of this name", run.stderr, card)

    def test_misspelt_parameters_of_models(self):
        for model, wrong, right in ((".model dm d(is=1e-14 cjoo=1p)", "cjoo", "cjo"), (".model qm npn(bff=100)", "bff", "bf"),
                                    (".model mm nmos(lamda=0.1)", "lamda", "lambda"), (".model sm sw(ronn=1)", "ronn", "ron"),
                                    (".model rm r(rsh=100 tc11=1)", "tc11", "tc1")):
            cards = [model if card.startswith(model.split("(")[0].rsplit(" ", 1)[0]) else card for card in CARDS]
            run = self.run_text("\n".join(cards), "check")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(f"there is no parameter {wrong} here", run.stderr)
            self.assertIn(f"did you mean {right}?", run.stderr)

    def test_missing_analyses(self):
        circuit = "V1 a 0 1\nR1 a b 1k\nC1 b 0 1u\n"
        for card in (".ac dec 10 1 1k", ".noise v(b) v1 dec 10 1 1k", ".tf v(b) v1", ".pz a 0 b 0 vol pz", ""):
            run = self.run_text(circuit + card)
            self.assertEqual(run.returncode, 3, card)
            self.assertIn("nothing was run", run.stderr)
            self.assertRegex(run.stderr, rf":5:1: error: the netlist requests {re.escape(card.split()[0])}" if card else "requests no analysis")
            self.assertEqual(self.run_text(circuit + card, "check").returncode, 0)
            self.assertEqual(self.run_text(circuit + card, "simulate", "--stop-time", "0.001").returncode, 0)
        run = self.run_text(circuit + ".dc V1 0 1 0.1\n.tran 1u 1m")
        self.assertEqual(run.returncode, 0)
        self.assertIn(".dc: a run makes only one analysis", run.stderr)

    def test_raw_files_name_their_analysis(self):
        circuit = "V1 a 0 1\nR1 a b 1k\nR2 b 0 1k\nC1 b 0 1n\n"
        for card, plot, first in ((".tran 1u 10u", "Transient Analysis", "time"), (".op", "Operating Point", "v(a)"),
                                  (".dc V1 3 -1 -0.5", "DC transfer characteristic", "v(v-sweep)")):
            self.assertEqual(self.run_text(circuit + card, "simulate", "-q", "--output-file", "o.raw").returncode, 0)
            with open(self.path("o.raw"), "rb") as file:
                self.assertIn(f"Plotname: {plot}\n".encode(), file.read())
            found = ngspice.read_raw(self.path("o.raw"))
            self.assertEqual(next(iter(found)), first)
            if first == "v(v-sweep)":
                self.assertEqual(found[first], found["v(a)"])

    def test_times_of_tran(self):
        """Output begins at the time that .tran gives, even if events happen before it."""
        for seed in range(20):
            rng = random.Random(seed)
            start, delay = rng.randrange(1, 15) / 1e4, rng.randrange(0, 5) / 1e4
            source = rng.choice((f"SIN(0 1 1k {delay})", f"PULSE(0 1 {delay} 10u 10u {rng.randrange(1, 4) / 1e4} 0.5m)", f"PWL(0 0 {delay + 1e-4} 1 1.2m 0)", f"EXP(0 1 {delay} 0.1m)"))
            found, _ = self.signals(f"V1 a 0 {source}\nR1 a 0 1\n.tran 10u 2m {start}")
            self.assertEqual((found["time"][0], found["time"][-1]), (start, 2e-3), source)

    def test_points_of_sweeps(self):
        """Each row of .dc is the operating point for the values of the swept sources in this row; sources that vary with time have their values at time 0."""
        tally = Tally("points of sweeps")
        for seed in seeds(200, quick=10):
            rng = random.Random(seed)
            wave = rng.choice(("PULSE(1 5 0 1u 1u 1m 2m)", "SIN(1 2 1k)", "SIN(0 2 1k 0 0 30)", "PWL(0 2 1 -3 2 4)", "EXP(1 3 0 1)", "SFFM(1 2 1k 2 100)", "DC 2 PULSE(1 5 0 0.1 0.1 1 3)"))
            device, source = rng.choice(("D1 b d dm", "J1 c b d jm", "E1 d 0 b c 2", "B1 d 0 V=v(b)*v(c)-tanh(v(a))+time", "S1 b d c 0 sm")), rng.choice(("B2 e 0 V=2*time+v(a)", "I2 0 e PULSE(1m 2m 0 1 1 1 4)"))
            cards = f"R1 a b {rng.uniform(1, 9):.3f}k\nR2 b 0 2k\nR3 b c 3k\nR4 d 0 {rng.uniform(1, 9):.3f}k\nV3 a 0 {wave}\n{device}\n{source}\nR5 e 0 1k\n.model dm d(is=1e-14 rs=5)\n.model jm njf(vto=-2 beta=1e-3)\n.model sm sw(vt=0.4 ron=1k)"
            sweeps = [(name, first, step, rng.randrange(0, 4)) for name, first, step in rng.sample([("V1", rng.choice((-1.5, 0.0, 2.0)), rng.choice((0.25, -0.4))), ("I1", 0.0, 1e-3)], rng.randrange(1, 3))]
            fixed = lambda values: f"V1 c 0 {values.get('V1', 1)!r}\nI1 0 b {values.get('I1', 1e-3)!r}\n{cards}\n"
            asked = ".dc " + " ".join(f"{name} {first!r} {first + (count + 0.4) * step!r} {step!r}" for name, first, step, count in sweeps)
            found, _ = self.signals(fixed({}) + asked)
            points = [{}]
            for name, first, step, count in reversed(sweeps):
                points = [{**point, name: first + k * step} for point in points for k in range(count + 1)]
            rows = len(found["time"]) if len(points) > 1 else 1  # a run of no length has two rows
            same = rows == len(points)
            for k, point in enumerate(points):
                expected, _ = self.signals(fixed(point) + ".op")
                same = same and all(abs(found[name][k] - values[0]) < 1e-5 * (1 + abs(values[0])) for name, values in expected.items() if name != "time" and name in found)
            tally.add(Run(0, ""), lambda same=same: same, seed, fixed({}), asked)
        tally.check(self)

    def test_hysteresis_in_sweeps(self):
        """A switch between its thresholds stays as it was at the point before."""
        for seed in seeds(200, quick=10):
            rng = random.Random(seed)
            threshold, width, step = rng.uniform(-0.5, 0.5), rng.uniform(0.05, 0.6), rng.choice((0.09, -0.13, 0.23))
            closed, start = rng.random() < 0.5, -1.5 if step > 0 else 1.5
            word, second = "on" if closed else rng.choice(("", "off")), rng.choice(("", " V2 1 2 1"))
            kind = rng.choice(("S1 d 0 a 0 sm {word}\n.model sm sw(vt={threshold!r} vh={width!r} ron=1k roff=1meg)", "W1 d 0 VA sm {word}\n.model sm csw(it={threshold!r} ih={width!r} ron=1k roff=1meg)"))
            found, _ = self.signals(f"V1 a 0 0\nR1 a f 1\nVA f 0 0\nV2 c 0 1\nR2 c d 1k\n{kind.format(**locals())}\n.dc V1 {start} {-start} {step}{second}")
            for at, supply, drop in zip(found["v(a)"], found["v(c)"], found["v(d)"]):
                closed = at > threshold + width or closed and at >= threshold - width
                self.assertAlmostEqual(drop, supply * (0.5 if closed else 1e6 / (1e6 + 1e3)), 6, (seed, at))

    def test_derivatives_of_operating_points(self):
        """If a run starts from its operating point, derivatives contain that of the operating point."""
        tally = Tally("derivatives of operating points")
        for seed in seeds(200, quick=10):
            rng = random.Random(seed)
            number = lambda: f"{10 ** rng.uniform(2.5, 3.8):.4g}"
            device = rng.choice(("D1 b d dm", "J1 c b d jm", "E1 d 0 b c 2", "Q1 c b d qm", "M1 c b d d mm", "B1 d 0 V=tanh(v(b))", "L2 b d 1m"))
            cards = [f"R1 a b {number()}", f"R2 b 0 {number()}", f"R3 b c {number()}", f"R4 d 0 {number()}", f"V1 a 0 {rng.choice(('2', 'PULSE(2 3 0.2m 10u 10u 1m 3m)', 'SIN(2 1 1k)'))}",
                     f"V2 e 0 {rng.uniform(1, 6):.3f}", f"R5 e c {number()}", rng.choice(("C1 b 0 0.1u", "C1 b c 0.1u", "L1 d 0 10m\nC1 c 0 0.2u", "C1 c 0 0.1u\n.ic v(c)=1")), device,
                     ".model dm d(is=1e-14 rs=5 cjo=1p)", ".model jm njf(vto=-2 beta=1e-3)", ".model qm npn(bf=80)", ".model mm nmos(vto=0.7 kp=1e-4)", ".tran 10u 1m"]
            name = rng.choice(("r1", "r2", "r3", "r4", "r5", "v2"))
            text, value = "\n".join(cards), next(float(card.split()[3]) for card in cards if card.lower().startswith(name + " "))
            options = ("--tolerance", "1e-9", "--no-event-rows")
            found, _ = self.signals(text, *options, "--sensitivity", name)
            sides = [self.signals(text, *options, "--override", f"{name}={value * factor!r}")[0] for factor in (1 + 1e-4, 1 - 1e-4)]

            def is_right(found=found, sides=sides, name=name, value=value):
                return all(abs(found[f"der({node}, {name})"][k] - difference) <= 2e-3 * abs(difference) + 1e-6 / value for node in ("v(b)", "v(c)", "v(d)") for k in (0, -1)
                           for difference in [(sides[0][node][k] - sides[1][node][k]) / (2e-4 * value)])

            tally.add(Run(0, ""), is_right, seed, name, text)
        tally.check(self)

    def test_textbook_circuits(self):
        pair = ("VCC vcc 0 12\nVEE vee 0 -12\nV1 p 0 SIN(0 10m 1k)\nV2 n 0 0\nQ1 c1 p e qn\nQ2 c2 n e qn\nR1 vcc c1 10k\nR2 vcc c2 10k\n"
                "I1 e vee 1m\n.model qn npn(is=1e-15 bf=100 rb=100 re={} rc=10)\n.tran 10u 1m")
        for ohms in ("1e-6", "1e-4", "1m", "0.1", "10"):
            found, _ = self.signals(pair.format(ohms))
            self.assertAlmostEqual(found["v(c1)"][0], 12 - 10e3 * 0.5e-3 * 100 / 101, places=3)
        many = "\n".join(f"Q{k}a a{k} p e{k} qn\nQ{k}b b{k} n e{k} qn\nRA{k} v a{k} 10k\nRB{k} v b{k} 10k\nI{k} e{k} vee 0.1m" for k in range(12))
        for ohms in ("1m", "1"):
            found, _ = self.signals("VCC vcc 0 12\nRV vcc v 10\nVEE vee 0 -12\nVP p 0 0\nVN n 0 0\n" + many +
                                    f"\n.model qn npn(is=1e-15 bf=100 rb=100 re={ohms} rc=10)\n.op")
            self.assertAlmostEqual(found["v(a7)"][0], 12 - (10 * 24 + 10e3) * 0.05e-3 * 100 / 101, places=3)
        bridge = "D1 a p dm\nD2 b p dm\nD3 {0} a dm\nD4 {0} b dm\n.model dm d(is=1e-12)\n"
        found, _ = self.signals("V1 a b SIN(0 10 50)\n" + bridge.format("0") + "R1 p 0 1k\n.tran 0.1m 40m")
        self.assertAlmostEqual(max(found["v(p)"]), 10 - 2 * 0.0258649 * 22.93, places=1)
        for load in ("L1 p d 1\nC1 d 0 100u\nR1 d 0 100\n", "L1 p d 10\nC1 d 0 20u\nR1 d 0 1k\n"):
            found, _ = self.signals("V1 a b SIN(0 100 50)\n" + bridge.format("0") + load + ".tran 0.1m 400m")
            self.assertAlmostEqual(found["v(d)"][-1] / 62.4, 1, delta=0.1)  # 2/pi of the peak, less two diodes
        found, _ = self.signals("V1 a 0 SIN(0 10 50)\nD1 a p d\nL1 p o 10m\nC1 o 0 100u\nRL o 0 100\n.model d d\n.tran 10u 40m")  # the current of L1 stops in each period
        self.assertAlmostEqual(found["v(o)"][-1], 3.0997166, places=4)  # by ngspice with steps of 2 us

    def test_commutation(self):
        """Boost converters whose diode is turned off by a transistor: the capacitance of the diode falls by a factor of some thousands within a nanosecond, which is not a singular point."""
        for seed in seeds(300, quick=4):
            rng = random.Random(seed)
            text = (f"VI in 0 5\nVG g 0 PULSE(0 5 0 10n 10n {rng.uniform(3, 6.5):.3f}u 10u)\nL1 in a {rng.choice((50, 100, 200))}u ic=5\nRL a s {rng.uniform(20, 80):.0f}m\n"
                    f"M1 s g 0 0 mm\nD1 s out dm\nC1 out 0 {rng.choice((100, 220, 470))}u ic=6\nR1 out c {rng.uniform(50, 150):.0f}m\nC2 c 0 1n\nR2 out 0 {rng.choice((12, 24))}\n"
                    f".model mm nmos(vto=4 kp=20 rd={rng.uniform(0.02, 0.06):.3f} rs=1m cgso=3n cgdo=1n cbd=2n cbs=2n)\n"
                    f".model dm d(is=1u rs={rng.uniform(5, 20):.0f}m n=1.05 vj=0.4 cjo={rng.uniform(200, 800):.0f}p tt={rng.uniform(5, 20):.0f}n)\n.tran 1u 60u uic")
            ends = [self.signals(text, "--solver", solver, "--tolerance", tolerance)[0]["v(out)"][-1] for solver, tolerance in (("radau", "1e-6"), (rng.choice(("radau", "bdf", "ida")), "1e-5"))]
            with self.subTest(text=text):
                self.assertAlmostEqual(ends[0], ends[1], delta=5e-3)

    def test_differential_pairs(self):
        """With ohmic terminals, resistors from a microohm to 10 ohms at the emitters, and an ideal current source: both sides carry half of its current."""
        for seed in range(300) if LONG else (*range(12), 28, 31, 39, 43, 47, 77, 78, 93):
            rng = random.Random(seed)
            ohms = " ".join(f"{name}={10**rng.uniform(-6, 1):.3g}" for name in ("rb", "re", "rc") if rng.random() < 0.7)
            outside = rng.random() < 0.7
            ends = "\n".join(f"RE{k} e{k} e {10**rng.uniform(-6, 1):.3g}" for k in (1, 2)) if outside else ""
            tail = rng.choice(["I1 e vee 1m", "I1 e vee 1m\nR9 e vee 100meg"])
            ohms_at_base = 10**rng.uniform(-3, 1)
            e1, e2 = ("e1", "e2") if outside else ("e", "e")
            found, _ = self.signals(f"VCC vcc 0 12\nVEE vee 0 -12\nV2 n 0 0\nRP p 0 {ohms_at_base:.3g}\nQ1 c1 p {e1} qn\nQ2 c2 n {e2} qn\n"
                                    f"R1 vcc c1 5k\nR2 vcc c2 5k\n{ends}\n{tail}\n.model qn npn(bf=100 {ohms})\n.op")
            total = (12 - found["v(c1)"][0] + 12 - found["v(c2)"][0]) / 5e3
            with self.subTest(seed=seed):
                self.assertAlmostEqual(total / (1e-3 * 100 / 101), 1, places=3)
                self.assertAlmostEqual(found["v(c1)"][0], 12 - 2.5 * 100 / 101, delta=0.5)

    def draw_gates(self, rng, source, most):
        """Cards of up to `most` gates whose inputs i0 to i2 are sources, and the logic value of each node. source: the value of a
        source for a level."""
        cards, level = ["VDD vdd 0 5"], {}
        for k in range(3):
            level[f"i{k}"] = rng.random() < 0.5
            cards.append(f"V{k} i{k} 0 {source(level[f'i{k}'])}")
        for g in range(rng.randrange(1, most + 1)):
            ins, out, is_nand = rng.sample(list(level), rng.randrange(1, 4)), f"o{g}", rng.random() < 0.5
            serial, parallel = (("0", "n"), ("vdd", "p")) if is_nand else (("vdd", "p"), ("0", "n"))
            nodes = [out, *(f"{out}x{k}" for k in range(len(ins) - 1)), serial[0]]
            for k, name in enumerate(ins):
                ends = (nodes[k], nodes[k + 1]) if rng.random() < 0.5 else (nodes[k + 1], nodes[k])
                cards.append(f"MS{g}_{k} {ends[0]} {name} {ends[1]} {serial[0]} {serial[1]}m w=4u l=1u")
                cards.append(f"MP{g}_{k} {out} {name} {parallel[0]} {parallel[0]} {parallel[1]}m w=4u l=1u")
            if rng.random() < 0.5:
                cards.append(f"C{g} {out} 0 10f")
            values = [level[name] for name in ins]
            level[out] = not all(values) if is_nand else not any(values)
        return cards, level

    def test_gates(self):
        """Networks of CMOS gates whose inputs are at the supply voltages: transistors that are off, or on without a current, some with ohmic terminals. Outputs have their logic values, in a run, too."""
        for seed in seeds(300, quick=15):
            rng = random.Random(seed)
            cards, level = self.draw_gates(rng, lambda is_high: 5 if is_high else 0, 5)
            extra = rng.choice(("", "lambda=0.02", "gamma=0.4 lambda=0.01")) + rng.choice(("", " rd=10 rs=10", " rd=0.1", " rs=50"))
            text = "\n".join([*cards, f".model nm nmos(vto=0.7 kp=1e-4 {extra})", f".model pm pmos(vto=-0.7 kp=5e-5 {extra})", rng.choice((".op", ".tran 1n 20n"))])
            found, _ = self.signals(text)
            with self.subTest(seed=seed):
                wrong = {name: found[f"v({name})"][-1] for name, is_high in level.items() if abs(found[f"v({name})"][-1] - (5 if is_high else 0)) > 1e-3}
                self.assertEqual(wrong, {}, text)

    def test_gates_that_switch(self):
        """Nets of gates with varying inputs and only oxide capacitances, which nearly vanish in some states of a transistor."""
        tally = Tally("gates that switch")
        for seed in seeds(300, quick=20):
            rng = random.Random(seed)
            cards, level = self.draw_gates(rng, lambda is_high: f"PULSE({0 if is_high else 5} {5 if is_high else 0} {rng.randrange(2, 8)}n 1n 1n 100n 200n)", 3)
            extra = rng.choice(("lambda=0.02", "gamma=0.4 lambda=0.01")) + rng.choice(("", " rd=10 rs=10", " rd=0.1", " rs=50")) + rng.choice((" tox=20n", " tox=30n cgso=0.1n", " tox=10n cgdo=0.2n cbd=3f"))
            text = "\n".join([*cards, f".model nm nmos(vto=0.7 kp=1e-4 {extra})", f".model pm pmos(vto=-0.7 kp=5e-5 {extra})", ".tran 1n 20n"])
            run = self.run_text(text, "simulate", "--output-file", "o.csv", "-q")

            def is_logic():
                with open(self.path("o.csv"), encoding="utf-8") as file:
                    end = list(csv.DictReader(file))[-1]
                return all(abs(float(end[f"v({name})"]) - (5 if is_high else 0)) < 1e-3 for name, is_high in level.items())

            tally.add(Run(run.returncode, run.stderr, str(run.returncode)), is_logic, seed, text)
        tally.check(self)

    def test_transit_times(self):
        """Diodes and bipolar transistors that store charge while they conduct, with and without capacitances, breakdown and
        resistances that vary. When everything has settled after a pulse, voltages are those of the operating point."""
        tally = Tally("transit times")
        for seed in seeds(300, quick=15):
            rng = random.Random(seed)
            some = lambda *given: " ".join(text for text in given if rng.random() < 0.4)
            number = lambda low, high: f"{rng.uniform(low, high):.3g}"
            sign = rng.choice([1, -1])
            if rng.random() < 0.5:
                model = f".model dm d(tt={number(5, 80)}n {some('cjo=20p', 'rs=5', 'n=1.6', 'bv=6 ibv=1m', 'cjp=4p php=0.6', 'tnom=40')})"
                cards, low, high = f"R1 a b {number(200, 900)}\nD1 b 0 dm {some('area=2', 'm=2', 'temp=60', 'pj=3')}\nR2 b 0 5k", -8, 4
            else:
                model = (f".model qm {'npn' if sign > 0 else 'pnp'}({some('tf=2n', 'tr=20n', 'cje=10p', 'cjc=5p xcjc=0.6', 'rb=150 irb=1m rbm=10', 'rc=5', 're=2', 'vaf=60', 'ikf=20m', 'xtf=3 vtf=4 itf=30m', 'cjs=5p', 'br=3', 'ise=1e-14 ne=1.6')})")
                cards, low, high = f"VC s 0 {5 * sign}\nRB a b {number(2, 20)}k\nRC s c {number(500, 3000)}\nRE e 0 {number(20, 200)}\nQ1 c b e qm {some('area=2', 'm=2', 'temp=50')}", 0, 3 * sign
            run = self.run_text(f"V1 a 0 PULSE({low} {high} {number(0.1, 0.3)}u 0.1u 0.1u 0.6u 60u)\n{cards}\n{model}\n.tran 10n 30u", "simulate", "-q", "--output-file", "o.csv")

            def is_settled():
                with open(self.path("o.csv"), encoding="utf-8") as file:
                    end = list(csv.DictReader(file))[-1]
                found, _ = self.signals(f"V1 a 0 {low}\n{cards}\n{model}\n.op")
                return all(abs(float(end[name]) - found[name][0]) < 1e-3 for name in found if name.startswith("v(") and "#" not in name)

            tally.add(Run(run.returncode, run.stderr, str(run.returncode)), is_settled, seed, cards, model)
        tally.check(self, may_refuse=0.02)

    def test_pairs_beyond_round_off(self):
        """A nanoohm together with 1e-12 siemens exceeds the digits of a number: the currents are right, or the circuit is refused by name."""
        for ohms in ("1e-7", "1e-8", "1n", "1e-10", "1p") if LONG else ("1e-8", "1n"):
            for inside in (True, False):
                ends = "" if inside else f"RE1 e1 e {ohms}\nRE2 e2 e {ohms}\n"
                for tail in ("", "R9 e vee 100meg\n") if LONG else ("",):
                    text = (f"VCC vcc 0 12\nVEE vee 0 -12\nV2 n 0 0\nRP p 0 1\nQ1 c1 p e{'' if inside else 1} qn\nQ2 c2 n e{'' if inside else 2} qn\nR1 vcc c1 5k\nR2 vcc c2 5k\n"
                            f"{ends}I1 e vee 1m\n{tail}.model qn npn(bf=100{f' re={ohms}' if inside else ''})\n.op")
                    run = self.run_text(text, "simulate", "-q", "--output-file", "o.csv")
                    with self.subTest(text=text):
                        self.assertIn(run.returncode, (0, 5, 6), run.stderr)
                        if run.returncode == 0:
                            found, _ = self.signals(text)
                            self.assertAlmostEqual(found["v(c1)"][0], 12 - 2.5 * 100 / 101, places=2)

    def test_currents_that_no_circuit_reaches(self):
        """Beyond 1e15 A the exponential of a junction is a straight line: a warning says so, in runs, sweeps and operating points. Below
        that current there is no warning."""
        for seed in seeds(200, quick=12):
            rng = random.Random(seed)
            saturation, n = 10 ** rng.uniform(-16, -9), rng.choice((1, 1.5))
            edge = 0.02586 * math.log(1e15 / saturation)  # volts, where n is 1
            card, scale = rng.choice((("D1 a 0 dm\n.model dm d(is={0} n={1})", n), ("D1 0 a dm\n.model dm d(bv=4 is={0} n={1})", None), ("Q1 c a 0 qm\nVC c 0 1\n.model qm npn(is={0} nf={1})", n),
                                      ("Q1 0 0 a qm\n.model qm pnp(is={0} nf={1})", n), ("J1 c a 0 jm\nVC c 0 {2}\n.model jm njf(is={0})", 1), ("M1 0 0 0 a mm\n.model mm nmos(is={0} vto=1)", 1)))
            is_beyond = rng.random() < 0.5
            peak = (scale * edge if scale else 4 + 1.3 * n * edge) * rng.uniform(1.05, 1.2) if is_beyond else (scale or n) * edge * 0.8
            analysis, source = rng.choice(((".op", f"{peak!r}"), (f".dc V1 0 {peak!r} {peak / 10!r}", "0"), (".tran 10u 1m", f"SIN(0 {peak!r} 1k)")))
            text = f"V1 a 0 {source}\n{card.format(saturation, n, peak)}\n{analysis}"
            _, said = self.signals(text)
            with self.subTest(text=text):
                self.assertEqual("beyond 1e15 A" in said, is_beyond, said)

    def test_comments(self):
        """Comments stand after each card, and between a card and its continuation."""
        for mark in (";", "$", "//", "; 5", "$ v1", "// + 3", ";'"):
            cards = ["V1 a 0 6", "R1 a b", "+ 2k", "R2 b 0 {1k*2/2}", ".op"]
            for k in range(len(cards)):
                text = "\n".join(card + (f" {mark} no" if i == k else "") for i, card in enumerate(cards))
                with self.subTest(text=text):
                    self.assertAlmostEqual(self.signals(text)[0]["v(b)"][0], 2, places=9)

    def test_no_resistance(self):
        found, said = self.signals("V1 a 0 1\nR1 a b 0\nR2 b 0 999m\n.op")
        self.assertIn("its resistance is 0; 1 milliohm is taken", said)
        self.assertAlmostEqual(found["v(b)"][0], 0.999, places=9)

    def test_coupling_beyond_one(self):
        run = self.run_text("V1 a 0 1\nR1 a b 1\nL1 b 0 1m\nL2 c 0 1m\nR2 c 0 1\nK1 L1 L2 1.2\n.op")
        self.assertIn("k1: with a coupling factor above 1", run.stderr)


if __name__ == "__main__":
    unittest.main()
