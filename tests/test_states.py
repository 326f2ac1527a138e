"""State machines: generated ones, with states in states, compared with an interpreter of chapter 17 of the language specification;
the example. Models that must be refused are in cases/clocks.

DAEDAL_STATE_MODELS sets the number of machines, 16 by default."""
import csv
import os
import random
import subprocess
import tempfile
import unittest

DAEDAL = os.environ["DAEDAL"]
EXAMPLES = os.path.join(os.environ["SOURCE_DIR"], "examples", "clocks")
WORK = tempfile.mkdtemp()
COUNT = int(os.environ.get("DAEDAL_STATE_MODELS", "5" if os.environ.get("BUILD_KIND") == "asan" else "16"))
TICKS = 40


def command(*arguments):
    return subprocess.run([DAEDAL, *arguments], capture_output=True, text=True)


def write(text):
    path = os.path.join(WORK, "m.mo")
    with open(path, "w") as file:
        file.write(text)
    return path


def ticks(path, *options):
    """The last row of each time."""
    run = command("simulate", path, "--output-file", "-", "-q", "--intervals", "1", *options)
    if run.returncode:
        raise AssertionError(run.stderr)
    rows = list(csv.reader(run.stdout.splitlines()))
    rows = [dict(zip(rows[0], map(float, row))) for row in rows[1:]]
    return [row for row, after in zip(rows, rows[1:] + [None]) if after is None or after["time"] > row["time"]]


class Machine:
    """States s0, s1, ... each with its own counter n, a step by which it moves v, and perhaps a machine inside."""

    def __init__(self, draw, path, depth):
        self.path = path
        self.steps = [draw.randint(-3, 4) for _ in range(draw.randint(2, 4))]
        self.inner = [Machine(draw, f"{path}s{i}.", depth - 1) if depth and draw.random() < 0.4 else None
                      for i in range(len(self.steps))]
        self.transitions = []
        for source in range(len(self.steps)):
            targets = [(source + 1) % len(self.steps)] + draw.sample(range(len(self.steps)), draw.randint(0, 1))
            draw.shuffle(targets)
            if source == len(self.steps) - 1 and depth == 0 and draw.random() < 0.5:
                targets = []
            for priority, target in enumerate(targets, 1):
                self.transitions.append(self.draw_transition(draw, source, target, priority))

    def draw_transition(self, draw, source, target, priority):
        immediate = draw.random() < 0.5
        kind = draw.choice(["input", "ticks", "time"] if immediate else ["input", "ticks", "v", "time"])
        limit, phase = draw.randint(2, 6), draw.randint(0, 5)
        condition, text = {
            "input": (lambda k, v, stay: k % limit == phase % limit, f"mod(k, {limit}) == {phase % limit}"),
            "ticks": (lambda k, v, stay: stay >= limit, f"ticksInState() >= {limit}"),
            "time": (lambda k, v, stay: (stay - 1) * 0.5 > 0.5 * limit - 0.75, f"timeInState() > {0.5 * limit - 0.75}"),
            "v": (lambda k, v, stay: v % limit == phase % limit, f"mod(v, {limit}) == {phase % limit}"),
        }[kind]
        synchronize = self.inner[source] is not None and draw.random() < 0.3
        reset = draw.random() < 0.6
        written = (f"transition(s{source}, s{target}, {text}, immediate = {str(immediate).lower()}, reset = {str(reset).lower()}, "
                   f"synchronize = {str(synchronize).lower()}, priority = {priority});")
        return dict(source=source, target=target, condition=condition, immediate=immediate, reset=reset, priority=priority,
                    synchronize=synchronize, text=written)

    def text(self, indent="  "):
        out = []
        for i, step in enumerate(self.steps):
            inner = self.inner[i]
            out.append(f"block S{i}\n  {'inner ' if inner else ''}outer output Integer v;\n  outer Integer k;\n  Integer n(start = {10 * i});")
            out.append(inner.text() if inner else "equation")
            if not inner:
                out.append(f"  v = previous(v) + {step};")
            out.append(f"  n = previous(n) + 1;\nend S{i};\nS{i} s{i};")
        out.append("equation\n  initialState(s0);")
        out += ["  " + transition["text"] for transition in self.transitions]
        return "\n".join(out)

    # ---- the interpreter ----

    def start(self):
        self.state, self.count = 0, [10 * i for i in range(len(self.steps))]
        self.pending, self.met = [False] * len(self.steps), {}
        self.stay, self.was_active, self.active = 0, False, [False] * len(self.steps)
        for inner in filter(None, self.inner):
            inner.start()

    def is_final(self):
        return all(transition["source"] != self.state for transition in self.transitions)

    def choose(self, k, reset):
        """The transition that is taken."""
        if reset:
            return None
        for transition in sorted(self.transitions, key=lambda transition: transition["priority"]):
            if transition["source"] != self.state:
                continue
            met = self.met.get(id(transition), False)
            if transition["immediate"]:
                met = transition["condition"](k, None, self.stay + 1 if self.was_active else 1)
                if transition["synchronize"]:
                    met = met and self.inner[self.state].is_final()
            if met:
                return transition
        return None

    def tick(self, k, v, active, reset):
        """One tick; returns v."""
        self.active = [False] * len(self.steps)
        fired = self.choose(k, reset) if active else None
        if active:
            self.pending = [reset or pending for pending in self.pending]
            self.state = 0 if reset else fired["target"] if fired else self.state
            self.active[self.state] = True
            entered = reset or fired or not self.was_active
            self.stay = 1 if entered else self.stay + 1
        for i, inner in enumerate(self.inner):
            is_active = self.active[i]
            again = is_active and (self.pending[i] or bool(fired and fired["reset"]))
            if is_active:
                self.pending[i] = False
                self.count[i] = (10 * i if again else self.count[i]) + 1
            if inner:
                v = inner.tick(k, v, is_active, again)
            elif is_active:
                v += self.steps[i]
        self.was_active = active
        return v

    def remember(self, k, v):
        """Conditions of delayed transitions, for the next tick."""
        for transition in self.transitions if self.was_active else []:
            met = transition["condition"](k, v, self.stay)
            inner = self.inner[transition["source"]]
            self.met[id(transition)] = met and (not transition["synchronize"] or inner.is_final())
        for inner in filter(None, self.inner):
            inner.remember(k, v)

    def compare(self, test, row, text):
        for i, inner in enumerate(self.inner):
            name = f"{self.path}s{i}"
            test.assertEqual((row[f"activeState({name})"], row[f"{name}.n"]), (self.active[i], self.count[i]),
                             f"{text}\n{name} at {row['time']}")
            if inner:
                inner.compare(test, row, text)


class Generated(unittest.TestCase):
    def test_machines(self):
        for seed in range(COUNT):
            draw = random.Random(seed)
            machine = Machine(draw, "", seed % 3)
            text = ("model M\n  inner Integer v(start = 0);\n  inner Integer k(start = -1);\n" + machine.text() +
                    "\n  when Clock(1, 2) then\n    k = previous(k) + (if v > 1000000 then 2 else 1);\n  end when;\nend M;\n")
            rows = ticks(write(text), "--stop-time", str((TICKS - 0.5) / 2))[:TICKS]
            self.assertGreaterEqual(len(rows), TICKS)
            machine.start()
            v = 0
            for k, row in enumerate(rows):
                v = machine.tick(k, v, True, k == 0)
                self.assertEqual((row["k"], row["v"]), (k, v), f"{text}\nat {row['time']}")
                machine.compare(self, row, text)
                machine.remember(k, v)


class Example(unittest.TestCase):
    def test_crossing_light(self):
        """By day 4 s red, 5 s green, 1 s yellow; from 20.5 s on it blinks, two ticks each; at 33.5 s the day begins again."""
        for row in ticks(os.path.join(EXAMPLES, "crossing_light.mo")):
            t = row["time"]
            day = (t - 33.5 if t >= 33.5 else t) % 10
            color = 3 if day < 4 else 1 if day < 9 else 2
            if 20.5 <= t < 33.5:
                color = 2 if int(t - 20.5) % 2 else 0
            rounds = min(t // 10, 2) if t < 33.5 else (t - 33.5) // 10
            self.assertEqual((row["color"], row["day.rounds"]), (color, rounds), str(t))


if __name__ == "__main__":
    unittest.main()
