"""--units: equations of random quantities, half of them with a wrong unit: exactly these must be named; units as the language
writes them. cases/units has single equations."""
import os
import random
import re
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
WORK = tempfile.mkdtemp()
# symbol, exponents of m, kg, s, A
UNITS = [("m", (1, 0, 0, 0)), ("kg", (0, 1, 0, 0)), ("s", (0, 0, 1, 0)), ("A", (0, 0, 0, 1)), ("N", (1, 1, -2, 0)),
         ("J", (2, 1, -2, 0)), ("W", (2, 1, -3, 0)), ("V", (2, 1, -3, -1)), ("Ohm", (2, 1, -3, -2)), ("C", (0, 0, 1, 1)),
         ("F", (-2, -1, 4, 2)), ("H", (2, 1, -2, -2)), ("Pa", (-1, 1, -2, 0)), ("Hz", (0, 0, -1, 0)), ("1", (0, 0, 0, 0))]


def written(exponents, pick):
    """The unit written in one of several ways."""
    names = [symbol for symbol, own in UNITS if own == exponents]
    if names and pick.random() < 0.5:
        return pick.choice(names)
    parts = [(base, power) for base, power in zip(("m", "kg", "s", "A"), exponents) if power]
    if not parts:
        return "1"
    power_text = lambda base, power: base + (str(power) if power != 1 else "")
    above = [power_text(*part) for part in parts if part[1] > 0]
    below = [power_text(base, -power) for base, power in parts if power < 0]
    if pick.random() < 0.5 or not below:
        return ".".join(power_text(*part) for part in parts)
    under = below[0] if len(below) == 1 else "(" + ".".join(below) + ")"
    return (".".join(above) or "1") + "/" + under


def add(a, b, factor=1):
    return tuple(x + factor * y for x, y in zip(a, b))


def product(pick, count, name):
    """Declarations, text and exponents of a product of new variables."""
    lines, text, total = [], [], (0, 0, 0, 0)
    for i in range(count):
        symbol, exponents = pick.choice(UNITS)
        kind = pick.randrange(4)
        variable = f"{name}_{i}"
        lines.append(f'  parameter Real {variable}(unit = "{symbol}") = 1;')
        if kind == 0 and i:
            text.append(f"/{variable}")
            total = add(total, exponents, -1)
        elif kind == 1:
            text.append(f"*{variable}^2")
            total = add(total, exponents, 2)
        else:
            text.append(f"*{variable}")
            total = add(total, exponents)
    return lines, "2" + "".join(text), total


def warnings_of(text, name="Units"):
    path = os.path.join(WORK, name + ".mo")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([DAEDAL, "check", path, "--units"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return {int(line) for line in re.findall(r":(\d+):\d+: warning: units differ", done.stderr)}


class Units(unittest.TestCase):
    def test_random_equations(self):
        pick = random.Random(5)
        declarations, equations, wrong = [], [], set()
        for k in range(200):
            lines, text, unit = product(pick, pick.randint(1, 4), f"p{k}")
            declarations += lines
            if k % 2:
                shown, is_wrong = unit, False
            else:
                change = [0, 0, 0, 0]
                change[pick.randrange(4)] = pick.choice((-2, -1, 1, 2))
                shown, is_wrong = add(unit, change), True
            declarations.append(f'  Real y{k}(unit = "{written(shown, pick)}");')
            form = pick.randrange(3)
            if form == 0:
                equations.append((f"  y{k} = {text};", is_wrong))
            elif form == 1:
                equations.append((f"  0 = y{k} - {text};", is_wrong))
            else:
                equations.append((f"  y{k} = if time > 1 then {text} else 0;", is_wrong))
        head = ["model Units"] + declarations + ["equation"]
        wrong = {len(head) + i + 1 for i, (_, is_wrong) in enumerate(equations) if is_wrong}
        self.assertEqual(warnings_of("\n".join(head + [line for line, _ in equations] + ["end Units;", ""])), wrong)


if __name__ == "__main__":
    unittest.main()
