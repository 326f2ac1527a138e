#!/usr/bin/env python3
"""Generated members of every kind of card, compared with ngspice: the same answer, or a refusal or warning that says why not.

Each family makes members with a random choice of forms and parameters. Members of a family are in one netlist, with their own names
(# is the member's number), so that one run of each program tests many. DAEDAL_TEST_TIER=long makes hundreds of members of each
family, otherwise a sample. A number as argument is the seed."""
import bisect
import csv
import os
import random
import subprocess
import sys
import tempfile

import ngspice

DAEDAL = os.environ["DAEDAL"]
LONG = os.environ.get("DAEDAL_TEST_TIER") == "long"
BATCH = 40
COUNT = 400 if LONG else BATCH
FEW = 4


def number(rng, low, high):
    """A number in one of the ways that cards write it."""
    value = low * (high / low) ** rng.random()
    value = float(f"{value:.3g}")
    for suffix, factor in (("k", 1e3), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9), ("p", 1e-12), ("meg", 1e6)):
        if 1 <= value / factor < 1000 and rng.random() < 0.5:
            return f"{value / factor:.6g}{suffix}{rng.choice(['', '', 'Ohm', 's', 'A', 'V'])}"
    return f"{value:.6g}"


def some(rng, options):
    """A random subset of `name=value` in random order."""
    chosen = [text for text in options if rng.random() < 0.4]
    rng.shuffle(chosen)
    return " ".join(chosen)


# ---- families: text of a member, with # for its number, and signals to compare ----

def resistor(rng):
    value, form = number(rng, 10, 1e5), rng.randrange(5)
    model = f".model rm# r({some(rng, ['tc1=0.002', 'tc2=1e-5', 'tnom=10', 'rsh=50', 'narrow=0.1u', 'short=0.2u'])} r=2k)"
    given = some(rng, ["m=3", "dtemp=40", "temp=90", "tc1=0.003", "tc2=2e-5", "scale=2", "noisy=0", "ac=5k"])
    card = (f"R1# a# b# {value} {given}", f"R1# a# b# r={value} {given}", f"R1# a# b# {value} rm# {given}\n{model}",
            f"R1# a# b# rm# {given} l=20u w=2u\n{model}", f"R1# a# b# r={{({value}+1)*2}} {given}")[form]
    return f"V1# a# 0 1\n{card}\nR2# b# 0 1k\n", ["v(b#)"]


def storage(rng):
    """A capacitor or inductor whose value shows as the time constant of a run."""
    given = some(rng, ["m=2", "dtemp=40", "temp=90", "tc1=0.003", "tc2=2e-5", "scale=2"])
    model = rng.random() < 0.3
    if rng.random() < 0.5:
        value = number(rng, 1e-7, 1e-6)
        card = f"C1# b# 0 {value} {given}" if not model else \
            f"C1# b# 0 cm# {given} l=100u w=20u\n.model cm# c(cj=150 cjsw=1e-4 narrow=0.5u tc1=0.001)"
    else:
        value = number(rng, 0.1, 1)
        card = f"L1# b# 0 {value} {given}" if not model else f"L1# b# 0 lm# {given}\n.model lm# l(ind=0.3 tc1=0.001)"
    return f"V1# a# 0 PULSE(0 1 0.1m 1u 1u 10m 20m)\nR1# a# b# 1k\n{card}\n", ["v(b#)"]


def initial(rng):
    """uic: charges keep the values that were set: single capacitors, in series, in parallel and in loops with sources."""
    ics = [f"ic={rng.choice([1, 2, -3])}" if rng.random() < 0.6 else "" for _ in range(4)]
    form = rng.randrange(5)
    if form == 0:
        text = f"C1# a# 0 1u {ics[0]}\nR1# a# b# 1k\nC2# b# 0 2u {ics[1]}\nR2# b# 0 1k\n"
    elif form == 1:
        text = f"C1# a# b# 1u {ics[0]}\nC2# b# 0 1u {ics[1]}\nR1# a# 0 1k\nR2# b# 0 2k\n"
    elif form == 2:
        text = f"V1# s# 0 5\nR1# s# a# 1k\nC1# a# b# 1u {ics[0]}\nR2# b# 0 2k\nC2# b# 0 3u {ics[1]}\n"
    elif form == 3:
        text = f"V1# s# 0 2\nR1# s# a# 1k\nL1# a# b# 1 {ics[0].replace('=', '=1m*') and 'ic=1m'}\nR2# b# 0 2k\nC2# b# 0 1u {ics[1]}\n"
    else:
        text = f"C1# a# b# 1u {ics[0]}\nC2# b# 0 1u {ics[1]}\nC3# a# 0 2u {ics[2]}\nR1# a# 0 1k\nR2# b# 0 2k\n"
    return text, ["v(b#)"]


def line(rng):
    """uic: ideal lines carry no waves at the start."""
    n = lambda low, high: number(rng, low, high)
    source = rng.choice([n(1, 9), f"SIN({n(1, 3)} {n(1, 3)} {n(300, 900)})", f"PULSE({n(1, 3)} 5 {n(1e-4, 1e-3)} 10u 10u 1m 3m)"])
    lines = [f"T{k}# {a} 0 {b} 0 Z0={rng.choice([30, 50, 75, 600])} {rng.choice(['TD=' + n(1e-4, 7e-4), f'F={n(500, 2000)} NL=0.3'])}\n" for k, a, b in ((1, "b#", "d#"), (2, "d#", "c#"))]
    ends = f"RB# b# 0 {n(100, 1e4)}\nRC# c# 0 {n(100, 1e4)}\nCC# c# 0 {n(2e-5, 1e-4)} {rng.choice(['', 'ic=2'])}\nRD# d# 0 {n(100, 1e4)}\nCB# b# 0 {n(2e-5, 1e-4)}\n"
    return f"V1# a# 0 {source}\nR1# a# b# {n(20, 500)}\n{''.join(lines)}{ends}", ["v(b#)", "v(c#)"]


def waveform(rng):
    n = lambda low, high: number(rng, low, high)
    kind = rng.choice(["pulse", "sin", "exp", "sffm", "pwl", "am"])
    values = {"pulse": ["0.1", "1.2", n(1e-4, 1e-3), n(1e-5, 1e-4), n(1e-5, 1e-4), n(1e-4, 1e-3), n(2e-3, 3e-3)],
              "sin": ["0.2", "1", n(200, 900), n(1e-5, 1e-3), n(10, 300), n(10, 90)],
              "exp": ["0.1", "1", n(1e-4, 1e-3), n(1e-4, 1e-3), n(1.5e-3, 2e-3), n(1e-4, 1e-3)],
              "sffm": ["0.1", "1", n(500, 900), n(1, 3), n(100, 200)],
              "am": ["0.5", "1", n(50, 100), n(500, 900), n(1e-4, 1e-3)],
              "pwl": ["0", "0", "0.3m", n(1, 2), "0.9m", n(0.1, 2), "2m", "0.2"]}[kind]
    least = {"pulse": 2, "sin": 2, "exp": 5, "sffm": 5, "am": 5, "pwl": 8}[kind]
    values = values[:rng.randint(least, len(values))]
    separator = rng.choice([" ", ",", " , "])
    text = rng.choice([f"{kind}({separator.join(values)})", f"{kind} {' '.join(values)}"])
    extra = rng.choice(["", "dc 2 ", "ac 1 ", "dc=1 ac=1 ", "3 "])
    tail = rng.choice(["", "", " ac 1 45"]) if "ac" not in extra else ""
    if rng.random() < 0.3:
        return f"I1# 0 a# {extra}{text}{tail} {rng.choice(['', 'm=2'])}\nR1# a# 0 1\n", ["v(a#)"]
    return f"V1# a# 0 {extra}{text}{tail}\nR1# a# 0 1k\n", ["v(a#)"]


def controlled(rng):
    forms = ["E1# o# 0 a# 0 2.5", "E1# o# 0 a# 0 1 2 3", "E1# o# 0 POLY(1) a# 0 1 2 3", "E1# o# 0 POLY(2) a# 0 b# 0 1 2 3 4 5 6",
             "E1# o# 0 VALUE={V(a#)*2+(V(b#)+1)*3}", "E1# o# 0 vol='V(a#)*V(b#)'", "E1# o# 0 TABLE {V(a#)} = (0,1) (2,4) (5,2)",
             "G1# 0 o# a# 0 1m", "G1# 0 o# a# 0 1m m=3", "G1# 0 o# POLY(2) a# 0 b# 0 0 1m 2m", "G1# 0 o# VALUE={(V(a#)+1)*1m}",
             "G1# 0 o# cur='V(a#)*1m'", "F1# 0 o# V1# 2", "F1# 0 o# V1# 2 m=3", "F1# 0 o# POLY(1) V1# 0 1 200", "H1# o# 0 V1# 500",
             "H1# o# 0 POLY(2) V1# V2# 1 200 300"]
    # ngspice rounds the corners of a table, here at 0, 2 and 5.
    return (f"V1# a# 0 {number(rng, 0.5, 1.5)}\nR1# a# 0 {number(rng, 100, 1000)}\nV2# b# 0 {number(rng, 0.5, 3)}\nR2# b# 0 1k\n"
            f"{rng.choice(forms)}\nR3# o# 0 1k\n"), ["v(o#)"]


def expression(rng, depth, leaves):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(leaves + [number(rng, 0.1, 5)])
    sub = lambda: expression(rng, depth - 1, leaves)
    form = rng.randrange(9)
    if form < 4:
        return f"{sub()}{rng.choice(['+', '-', '*', ' + ', ' * '])}{sub()}"
    if form == 4:
        return f"({sub()})"
    if form == 5:
        return f"({sub()})/(1.5+abs({sub()}))"
    if form == 6:
        return f"({sub()}{rng.choice(['>', '<', '>=', '<='])}{sub()} ? {sub()} : {sub()})"
    if form == 7:
        return f"({sub()}){rng.choice(['^2', '**2', '^3', '^1.5'])}"
    one = rng.choice(["abs({})", "sqrt(abs({}))", "sin({})", "cos({})", "tanh({})", "exp(-abs({}))", "ln(1.1+abs({}))", "min({}, 2)",
                      "max({},0.5)", "sgn({})", "atan({})", "floor({})", "ceil({})", "nint({})", "log10(2+abs({}))",
                      "pow({}, 3)", "pwr({}, 2)", "pow({}, 2)"])
    return one.format(sub())


def behaviour(rng):
    inner = expression(rng, 3, ["V(a#)", "V(b#)", "V(a#,b#)", "I(V1#)*1k", "p#"])
    text = rng.choice([inner, f"{{{inner}}}", f"'{inner}'"])
    tail = some(rng, ["m=2", "tc1=0.001", "dtemp=30", "reciprocm=1"])
    return (f"V1# a# 0 {number(rng, 0.5, 3)}\nR1# a# 0 1k\nV2# b# 0 {number(rng, 0.5, 3)}\nR2# b# 0 1k\n"
            f".param p#={rng.uniform(-3, 3):.3f}\nB1# o# 0 V={text} {tail}\nR3# o# 0 1k\n"), ["v(o#)"]


def parameter(rng):
    inner = expression(rng, 3, ["p#", "q#"])
    return f".param p#={number(rng, 0.5, 3)} q#={{1-p#*2}}\n.param z#={{{inner}}}\nV1# o# 0 {{z#}}\nR3# o# 0 1k\n", ["v(o#)"]


def bias(rng):
    return rng.choice(["0.3", "0.5", "0.65", "0.8", "-0.5", "-3", "-8", "2"])


def diode(rng):
    given = some(rng, ["is=2e-14", "n=1.7", "rs=5", "ikf=10m", "bv=5", "ibv=2m", "nbv=1.3", "isr=1e-10", "nr=2", "eg=1.2", "xti=2", "tnom=40",
                       "jsw=1e-13", "ns=1.5", "trs=0.01", "tcv=0.01", "cjo=1p", "ikr=1m", "kf=1e-12"])
    own = some(rng, ["m=3", "dtemp=30", "temp=60", "pj=2", "area=3", "off"])
    return f"V1# a# 0 {bias(rng)}\nR1# a# b# 100\nD1# b# 0 dm# {own}\n.model dm# d({given})\n", ["v(b#)"]


def bipolar(rng):
    given = some(rng, ["is=2e-15", "bf=80", "nf=1.1", "vaf=50", "ikf=5m", "ise=1e-13", "ne=1.8", "br=3", "nr=1.1", "var=20", "ikr=10m",
                       "isc=1e-13", "nc=1.6", rng.choice(["rb=200", "rb=200 irb=0.1m", "rb=200 rbm=20", "rb=200 irb=0.1m rbm=20"]), "re=2", "rc=10", "xtb=1.5", "eg=1.2", "xti=2", "tnom=40",
                       "nkf=0.6"])
    own = some(rng, ["area=2", "m=3", "dtemp=30", "temp=60", "off"])
    kind, sign = rng.choice([("npn", 1), ("pnp", -1)])
    return (f"V1# s# 0 {sign * 5}\nV2# a# 0 {sign * float(rng.choice(['0.6', '0.7', '2', '-1']))}\nRB# a# b# 1k\nRC# s# c# 500\nRE# e# 0 50\n"
            f"Q1# c# b# e# qm# {own}\n.model qm# {kind}({given})\n"), ["v(b#)", "v(c#)", "v(e#)"]


def leakage(rng):
    """Currents of picoamperes: the conductances across junctions matter, and how many devices are in parallel."""
    text = f"V1# a# 0 {rng.uniform(2, 20):.3f}\nRC# a# c# {rng.choice(['1e8', '3e9', '1e10'])}\n"
    if rng.random() < 0.3:
        kind, sign = rng.choice([("npn", 1), ("pnp", -1)])
        return (f"V1# a# 0 {sign * rng.uniform(2, 20):.3f}\nRC# a# c# {rng.choice(['3e9', '1e11', '1e12'])}\nVB# b# 0 {-sign}\n"
                f"Q1# {rng.choice(['c# b# 0', 'c# b# 0 0', '0 c# 0', '0 c# b#'])} qm# {some(rng, ['m=3', 'area=2'])}\n.model qm# {kind}({some(rng, ['bf=80', 'subs=1', 'subs=-1'])})\n"), ["v(c#)"]
    if rng.random() < 0.4:  # gmin counts once for a diode with any m
        return (f"V1# a# 0 {-rng.uniform(2, 20):.3f}\nRC# a# c# {rng.choice(['3e9', '1e11', '1e12'])}\nD1# c# {rng.choice(['0', 'd#'])} dm# {some(rng, ['m=3', 'area=2', 'm=2 pj=3'])}\n"
                f"D2# d# 0 dm# {some(rng, ['m=2', 'area=3'])}\n.model dm# d(is=1e-15 {some(rng, ['jsw=1e-15'])})\n"), ["v(c#)"]
    if rng.random() < 0.5:
        return text + f"M1# c# 0 0 0 mm# l=1u w=10u {some(rng, ['m=3'])}\n.model mm# nmos(vto=1 kp=1e-5)\n", ["v(c#)"]
    return text + f"VB# b# 0 -5\nJ1# c# b# 0 jm# {some(rng, ['m=3', 'area=2'])}\n.model jm# njf(vto=-2)\n", ["v(c#)"]


def substrate(rng):
    """The capacitance of the substrate, at the collector or the base, after a resistor."""
    kind, sign = rng.choice([("npn", 1), ("pnp", -1)])
    given = some(rng, [rng.choice(["subs=1", "subs=-1"]), "vjs=0.6", "mjs=0.4"])
    return (f"V1# s# 0 {sign * 5}\nV2# a# 0 PULSE(0 {sign * 2} 0.2m 0.1m 0.1m 1m 3m)\nRB# a# b# 20k\nRC# s# c# 2k\nRE# e# 0 500\nRS# u# 0 1k\n"
            f"Q1# c# b# e# u# qm# {some(rng, ['m=3', 'area=2', 'areab=3', 'areac=4'])}\n.model qm# {kind}(cjs=20n {given})\n"), ["v(b#)", "v(c#)", "v(u#)"]


def mosfet(rng):
    kind, sign = rng.choice([("nmos", 1), ("pmos", -1)])
    given = some(rng, [f"vto={sign * 0.8}", "kp=5e-5", "gamma=0.4", "phi=0.7", "lambda=0.02", "rd=20", "rs=10", "tox=2e-8", "nsub=1e16", "uo=500",
                       "ld=0.1u", "tpg=1", "rsh=10", "is=1e-13", "tnom=40"])
    own = some(rng, ["m=3", "dtemp=30", "temp=60", "nrd=2", "ad=10p", "as=10p", "pd=10u"])
    return (f"V1# s# 0 {sign * 5}\nV2# g# 0 {sign * float(rng.choice(['0.5', '1.5', '3']))}\nRD# s# d# 2k\nRS# e# 0 100\n"
            f"M1# d# g# e# 0 mm# l=2u w=20u {own}\n.model mm# {kind}({given})\n"), ["v(d#)", "v(e#)"]


def junction_fet(rng):
    given = some(rng, ["vto=-1.5", "beta=5e-4", "lambda=0.01", "rd=10", "rs=20", "is=1e-13", "b=0.9", "pb=0.8", "tnom=40", "tcv=0.002",
                       "bex=-1.2"])
    own = some(rng, ["area=2", "m=3", "dtemp=30", "temp=60"])
    kind, sign = rng.choice([("njf", 1), ("pjf", -1)])
    return (f"V1# s# 0 {sign * 8}\nV2# g# 0 {sign * float(rng.choice(['-1', '-0.3', '0']))}\nRD# s# d# 1k\nRS# e# 0 100\n"
            f"J1# d# g# e# jm# {own}\n.model jm# {kind}({given})\n"), ["v(d#)", "v(e#)"]


def subcircuit(rng):
    """m= and parameters through two levels. B elements and voltage sources count once, for any m=."""
    inner = rng.choice(["R1 a b {w}", "G1 a b a b {1/w}", "I1 a b {1/w}", "R1 a b {w}\nB1 a b I=V(a,b)/1k",
                        "D1 a b dm\n.model dm d(is=1e-12)\nR1 a b {w}", "L1 a c 1m\nR1 c b {w}", "E1 c b a b 0.3\nR1 a c {w}"])
    call = rng.choice(["", "m=2", f"w={number(rng, 100, 1000)}", "w=(1+2)*100 m=3", f"m={{1+1}} w={{{number(rng, 100, 1000)}*2}}"])
    outer = rng.choice([f"X1 a b in# {call}", f"X1 a b in# {call}\nR2 a b 5k"])
    # ngspice ignores an inner m= if there is an outer one.
    m = rng.choice(["", "m=2", "m=1.5"]) if "m=" not in call else ""
    # ngspice passes m= on only to definitions that come later.
    return (f"V1# p# 0 1\nR1# p# q# 1k\nX1# q# 0 out# {m}\n.subckt out# a b\n{outer}\n.ends out#\n"
            f".subckt in# a b w=1k\n{inner}\n.ends\n"), ["v(q#)"]


def latch(rng):
    """Two transistors with three operating points: .nodeset selects one."""
    sides = [("c", "d"), ("d", "c")][rng.randrange(2)]
    nodeset = rng.choice(["v({0}#)=5 v({1}#)=0.1", "v({0}#)=4.5", "v({1}#)=0.05", "v({0}#) = 3 v({1}#)=0.2"]).format(*sides)
    return (f"V1# s# 0 5\nR1# s# c# {rng.choice(['1k', '2.2k'])}\nR2# s# d# {rng.choice(['1k', '1.5k'])}\nR3# c# b# {rng.choice(['10k', '22k'])}\nR4# d# a# 10k\n"
            f"Q1# c# a# 0 qm#\nQ2# d# b# 0 qm#\n.model qm# npn(is=1e-15 bf={rng.choice([50, 100, 300])})\n.nodeset {nodeset}\n"), ["v(c#)", "v(d#)"]


def edge(rng):
    """A switch whose control is at a threshold, or near it."""
    kind, low = rng.choice([("s", "v"), ("w", "i")]), rng.choice([0, 1, -2])
    width, state = rng.choice([0, 0, 0.5]), rng.choice(["", "on", "off"])
    if kind[0] == "w" and width:
        state = "off"  # ngspice ignores `on` of a current switch between its thresholds
    control = low + rng.choice([-width, 0, width, rng.choice([-0.25, 0.25])])
    control_card = "S1# a# 0 c# 0" if kind[0] == "s" else "W1# a# 0 VC#"
    return (f"V1# s# 0 1\nVC# c# 0 {control}\nRC# c# 0 1\nR1# s# a# 1k\n{control_card} sm# {state}\n"
            f".model sm# {'sw' if kind[0] == 's' else 'csw'}({kind[1]}t={low if kind[0] == 's' else -low} {kind[1]}h={width} ron=50)\n"), ["v(a#)"]


def switch(rng):
    state = rng.choice(["", "on", "off"])
    given = some(rng, ["vt=1", "vh=0.5", "ron=50", "roff=1meg"])
    wave = rng.choice(["PWL(0 0.8 1m 3 2m -3 3m 0.8)", "PWL(0 1.2 1m -1 2m 4)", "PWL(0 -2 1.5m 3 3m -3)"])
    return (f"V1# s# 0 1\nVC# c# 0 {wave}\nR1# s# a# 1k\nS1# a# 0 c# 0 sm# {state}\n.model sm# sw({given})\n"), ["v(a#)"]


def converter(rng):
    """Diodes that switch hard: the capacitance of a junction falls by up to seven decades in each period."""
    model = f".model dm# d(tt={number(rng, 1e-9, 1e-7)} cjo={number(rng, 1e-13, 1e-10)}{rng.choice(['', ' rs=0.1'])})\n.model sm# sw(vt=0.5 ron=0.2 roff=1meg)\n"
    gate = f"VG# g# 0 PULSE(0 1 0 1u 1u {rng.choice([30, 50, 60])}u 100u)\n"
    load = f"C# o# 0 {number(rng, 1e-5, 1e-4)}\nR# o# 0 {number(rng, 20, 200)}\n"
    inductance = number(rng, 3e-4, 3e-3)
    bodies = (f"VI# i# 0 12\nS# i# s# g# 0 sm#\nD# 0 s# dm#\nL# s# o# {inductance}\n",
              f"VI# i# 0 5\nL# i# s# {inductance}\nS# s# 0 g# 0 sm#\nD# s# o# dm#\n",
              f"VI# i# 0 9\nS# i# s# g# 0 sm#\nL# s# 0 {inductance}\nD# o# s# dm#\n",
              f"VI# i# 0 9\nLI# i# s# {inductance}\nS# s# 0 g# 0 sm#\nCX# s# x# 10u\nL# x# 0 {inductance}\nD# x# o# dm#\n",
              f"VI# i# 0 PULSE(-8 8 0 1u 1u 48u 100u)\nRI# i# a# 2\nDA# a# s# dm#\nD# 0 s# dm#\nL# s# o# {inductance}\n")
    return rng.choice(bodies) + gate + load + model, ["v(o#)"]


def rectifier(rng):
    """Diodes, with a capacitance or none, that feed a choke, a capacitor or both. If the current of a choke stops, conductances fall by ten decades."""
    given = some(rng, [f"cjo={number(rng, 1e-12, 1e-10)}", f"rs={number(rng, 1e-2, 1)}", "n=1.7"])
    model = f".model dm# d(is={rng.choice(['1e-14', '1e-12', '1e-9'])} {given})\n"
    source = f"SIN(0 {rng.choice([5, 12, 100])} {rng.choice([400, 1000, 2000])})"
    choke, load = f"L# p# o# {number(rng, 1e-4, 1e-2)}\n", f"C# o# 0 {number(rng, 1e-6, 3e-5)}\nR# o# 0 {number(rng, 30, 1000)}\n"
    bodies = (f"V# a# 0 {source}\nDA# a# p# dm#\n{choke}", f"V# a# 0 {source}\nDA# a# p# dm#\nDB# 0 p# dm#\n{choke}",
              f"V# a# b# {source}\nRB# b# 0 1meg\nDA# a# p# dm#\nDB# b# p# dm#\nDC# 0 a# dm#\nDD# 0 b# dm#\n{choke}",
              f"V# a# 0 {source}\nCA# a# p# {number(rng, 1e-6, 1e-5)}\nDA# 0 p# dm#\nDB# p# o# dm#\n",
              f"V# a# 0 {source}\nRA# a# q# {number(rng, 1, 100)}\nLA# q# p# {number(rng, 1e-5, 1e-3)}\nDA# p# o# dm#\n")
    return rng.choice(bodies) + load + model, ["v(o#)"]


def notation(rng):
    """Numbers: digits, exponents with or without digits, suffixes, units. Functions and parameters that are given more than once: the last counts."""
    mantissa = rng.choice(["1", "2.5", "3.", ".5", "07"])
    exponent = rng.choice(["", "", "e", "e1", "e-1", "E+1", "d", "d1", "D-1"])
    suffix = rng.choice(["", "k", "K", "m", "meg", "MEG", "g", "u", "mil", "x", "Ohm", "kOhm", "a", "V"])
    value = mantissa + exponent + suffix
    # In braces ngspice knows neither `d` nor `mil`.
    plain = mantissa + exponent.lower().replace("d", "e") + suffix.replace("mil", "k")
    functions = "".join(f".func f#(x) {{x*{rng.randint(1, 9)}}}\n" for _ in range(rng.randint(1, 3)))
    parameters = "".join(f".param p# = {rng.randint(1, 9)}\n" for _ in range(rng.randint(1, 3)))
    use = rng.choice(["B1# a# 0 V=f#(v(c#))*p#", f"B1# a# 0 V=v(c#)*f#({value})", f"V1# a# 0 {value}", "V1# a# 0 {f#(p#)}", f"V1# a# 0 {{{plain}*p#}}"])
    return f"{functions}{parameters}VC# c# 0 2\n{use}\nR1# a# 0 1\n", ["v(a#)"]


MAY_REFUSE = {rectifier: 0.05}  # a part of the members

FAMILIES = {"rectifier": (rectifier, ".tran 10u 3m"), "converter": (converter, ".tran 10u 3m"), "resistor": (resistor, None), "storage": (storage, ".tran 10u 3m"), "initial": (initial, ".tran 10u 3m uic"),
            "line": (line, ".tran 10u 3m uic"), "waveform": (waveform, ".tran 10u 3m"), "controlled": (controlled, None), "behaviour": (behaviour, None),
            "parameter": (parameter, None), "diode": (diode, None), "bipolar": (bipolar, None), "leakage": (leakage, None), "substrate": (substrate, ".tran 10u 3m"),
            "mosfet": (mosfet, None),
            "junction_fet": (junction_fet, None), "notation": (notation, None), "latch": (latch, None), "edge": (edge, None), "subcircuit": (subcircuit, None), "switch": (switch, ".tran 10u 3m")}


# ---- running ----

def netlist(members, analysis):
    text = "".join(text.replace("#", str(k)) for k, (text, _) in members)
    return f"members\n{text}{analysis or '.op'}\n.end\n"


def ours(text):
    """Signals, or None; and messages."""
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "n.cir"), os.path.join(folder, "o.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        run = subprocess.run([DAEDAL, "simulate", path, "-q", "--output-file", output, "--tolerance", "1e-7",
                              *(["--output-interval", "2e-6"] if ".tran" in text else [])], capture_output=True,
                             text=True, check=False)
        if run.returncode:
            return None, run.stderr
        with open(output, encoding="utf-8") as file:
            rows = csv.reader(file)
            names = next(rows)
            return dict(zip(names, zip(*(map(float, row) for row in rows)))), run.stderr


def theirs(text, analysis):
    """ngspice runs with tight tolerances or, if it reports that it cannot keep to these, with looser ones."""
    for options in ("reltol=1e-6 vntol=1e-9 abstol=1e-15", "reltol=1e-4 vntol=1e-7 abstol=1e-10") if analysis else ("reltol=1e-6 vntol=1e-9 abstol=1e-15",):
        found = ngspice.run("n.cir", text.replace(".tran 10u 3m", ".tran 10u 3m 0 2u").replace("\n.end\n", f"\n.options {options}\n.end\n"))
        if found and (not analysis or found["time"][-1] > 2.99e-3):
            return found
    return None


def at(times, values, t):
    k = bisect.bisect_left(times, t)
    if k == 0 or k == len(times):
        return values[min(k, len(times) - 1)]
    if times[k] == times[k - 1]:
        return values[k]
    return values[k - 1] + (values[k] - values[k - 1]) * (t - times[k - 1]) / (times[k] - times[k - 1])


def differ(mine, other, signal, analysis):
    if signal not in other:
        return "ngspice has no such signal"
    if not analysis:
        a, b = mine[signal][0], other[signal][0]
        return None if abs(a - b) <= 2e-5 * abs(b) + 2e-8 else f"{a} for {b}"
    size = max(abs(v) for v in other[signal]) or 1
    for k in range(1, 60):
        t = k * 5.017e-5
        a, b = at(mine["time"], mine[signal], t), at(other["time"], other[signal], t)
        if abs(a - b) > 5e-3 * size:
            return f"{a} for {b} at {t}"
    return None


def judge(members, analysis, failures, counts):
    text = netlist(members, analysis)
    other, (mine, said) = theirs(text, analysis), ours(text)
    if (other is None or mine is None) and len(members) > 1:
        half = len(members) // 2
        judge(members[:half], analysis, failures, counts)
        judge(members[half:], analysis, failures, counts)
        return
    for k, (body, signals) in members:
        if other is None:
            counts["refused by ngspice"] += 1
        elif mine is None:
            counts["refused"] += 1
            failures.append((body, "refused: " + said))
        else:
            counts["compared"] += 1
            for signal in signals:
                wrong = differ(mine, other, signal.replace("#", str(k)), analysis)
                if wrong:
                    failures.append((body, f"{signal}: {wrong}"))


def main():
    if not ngspice.NGSPICE:
        print("no ngspice")
        return 77
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    seeds = [int(word) for word in sys.argv[1:] if word.isdigit()] or [1]
    wrong = 0
    for name, (make, analysis) in FAMILIES.items():
        if words and name not in words:
            continue
        rng, failures, counts = random.Random(f"{name} {seeds[0]}"), [], {"compared": 0, "refused": 0, "refused by ngspice": 0}
        batch = 1 if make in (substrate, converter, rectifier, line) else BATCH  # forty transistors in one run take minutes
        members = list(enumerate(make(rng) for _ in range(COUNT if LONG else max(batch, FEW))))
        for k in range(0, len(members), batch):
            judge(members[k:k + batch], analysis, failures, counts)
        print(f"{name}: {counts['compared']} compared, {len(failures)} wrong, {counts['refused by ngspice']} refused by ngspice")
        for body, words_of in failures[:5]:
            print(body + "   " + words_of)
        may_refuse = min(counts["refused"], MAY_REFUSE.get(make, 0) * counts["compared"])
        wrong += len(failures) - may_refuse + (counts["compared"] == 0)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
