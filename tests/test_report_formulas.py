"""Formulas and places of a report, as a browser draws them, compared with `analyze --json`: each formula of the page has the value of
its text at random values of all names, and each place is that of the equation."""
import cmath
import html
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import counted

EXAMPLES = pathlib.Path(os.environ["SOURCE_DIR"]) / "examples"
BROWSER = None if os.environ.get("BUILD_KIND") in ("asan", "tsan") else shutil.which("chromium")
MODELS = ["triple_pendulum.mo", "slider_crank.mo", "reactor.mo", "wheelset.mo", "modelica/gear_train.mo", "circuits/common_emitter.cir"]
GREEK = dict(zip("αβγδεζηθικλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma "
                 "tau phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split()))
SIGNS = {"−": "-", "·": "*", "≤": "<=", "≥": ">=", "≠": "<>", "=": "=="}
NAME = r"(?:'(?:\\.|[^'])*'|[A-Za-z_]\w*(?:\[[^\]]*\])?(?:\.[A-Za-z_]\w*(?:\[[^\]]*\])?)*)"


def plain(name):
    """The letters and digits of a name, then a prime for each derivative."""
    return "".join(GREEK.get(letter, letter) for letter in name if letter.isalnum()) + "′" * name.count("′")


def of_math(node):
    """The text of a piece of MathML, with parentheses around every part."""
    inner = [of_math(child) for child in node]
    if node.tag == "mfrac":
        return f"(({inner[0]})/({inner[1]}))"
    if node.tag == "msqrt":
        return f"sqrt({''.join(inner)})"
    if node.tag in ("msup", "msubsup"):
        return f"(({''.join(inner[:-1])})^({inner[-1]}))"
    if node.tag == "mover":
        return inner[0].strip("()") + {"˙": "′", "¨": "′′"}[node[1].text]
    if node.get("class") == "path" and inner[-1].startswith("(("):
        return "((" + plain("".join(inner[:-1])) + inner[-1][2:]
    if node.tag == "msub" or node.get("class") == "path":
        return plain("".join(inner))
    if node.tag == "mrow":
        return f"({''.join(inner)})" if len(inner) > 1 else "".join(inner)
    if node.tag == "mspace":
        return "*"
    return "".join(inner) if inner else SIGNS.get(node.text, node.text) if node.tag == "mo" else plain(node.text) if node.tag != "mn" else node.text


def of_text(text):
    """The text of daedal in the same form."""
    text = re.sub(rf"(?<![\w.]){NAME}(?!\s*\()", lambda found: plain(found[0]), text)
    while "der(" in text:
        text = re.sub(r"\bder\(([\w′]+)\)", r"\1′", text)
    return re.sub(r"(?<![<>=])=(?!=)", "==", text)


def number(word):
    return random.Random(word).uniform(0.5, 2)


def call(word, *given):
    return number(word) + sum((k + 1.5) * one for k, one in enumerate(given))


def value(text):
    """The values of the sides, and the signs between them."""
    result = re.split(r"(<=|>=|<>|==|<|>)", text)
    for k in range(0, len(result), 2):
        side = re.sub(r"(?<![\w.])([A-Za-z][\w′]*)(\(?)", lambda found: repr(number(found[1])) if not found[2] else f"call({found[1]!r}, " if found[1] != "sqrt" else "sqrt(",
                      result[k])
        result[k] = eval(side.replace("^", "**"), {"call": call, "sqrt": cmath.sqrt})
    return result


def agree(one, other):
    return len(one) == len(other) and all(a == b if isinstance(a, str) else abs(a - b) <= 1e-9 * (1 + abs(a)) for a, b in zip(one, other))


def check(model, folder):
    run = lambda *words: subprocess.run([os.environ["DAEDAL"], *words, "-q"], cwd=folder, capture_output=True, text=True, check=True).stdout
    run("report", str(EXAMPLES / model), "-o", "r.html")
    found = json.loads(run("analyze", str(EXAMPLES / model), "--json"))
    page = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom", f"file://{folder}/r.html"],
                          capture_output=True, text=True, check=True).stdout
    formulas = re.findall(r'<span class="math" title="([^"]*)">((?:<math.*?</math>(?:<wbr>)?)+)</span>', page, re.DOTALL)
    counted.check(len(formulas) >= 2, f"{model}: {len(formulas)} formulas")
    for title, inner in formulas:
        text = html.unescape(title)
        tree = xml.etree.ElementTree.fromstring("<math>" + re.sub(r"</?math[^>]*>|<wbr>", "", inner).replace("&nbsp;", " ") + "</math>")
        drawn = "".join(of_math(child) for child in tree)
        counted.check(agree(value(of_text(text)), value(drawn)), f"{model}: {text} is drawn as {drawn}")
    shown = [html.unescape(title) for title, _ in formulas] + [html.unescape(code) for code in re.findall("<code>(.*?)</code>", page)]
    places = re.findall(r'<tr><td><a href="#line-(\d+)">line \1</a>', page)
    for entry, line in zip(found["differentiations"], places):
        counted.check(int(line) == entry["line"], f"{model}: line {line} is not {entry['line']}")
        counted.check(entry["text"] in shown and entry["source"] in shown, f"{model}: {entry} is not on the page")
    counted.check(len(places) == min(60, len(found["differentiations"])), f"{model}: {len(places)} places")
    for constraint in found["hidden_constraints"][:60]:
        counted.check(constraint in shown, f"{model}: {constraint} is not on the page")


def main():
    if BROWSER:
        for model in MODELS:
            with tempfile.TemporaryDirectory() as folder:
                check(model, folder)
    return counted.finish()


if __name__ == "__main__":
    raise SystemExit(main())
