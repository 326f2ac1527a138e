#!/usr/bin/env python3
"""The index from topology, from structure and by numbers agrees on random circuits, and the right circuits are refused.

DAEDAL_CIRCUITS sets the number of circuits."""
import json
import os
import random
import subprocess
import sys
import tempfile

DAEDAL = os.environ["DAEDAL"]
COUNT = int(os.environ.get("DAEDAL_CIRCUITS", "20" if os.environ.get("BUILD_KIND") == "asan" else "120"))


class Sets:
    def __init__(self, count):
        self.parent = list(range(count))

    def find(self, k):
        while self.parent[k] != k:
            self.parent[k] = self.parent[self.parent[k]]
            k = self.parent[k]
        return k

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        self.parent[max(a, b)] = min(a, b)
        return a != b


def random_circuit(generator):
    nodes = generator.randint(2, 8)
    kinds = generator.choice(["rcv", "rclvi", "rclvi", "clvi", "rli", "cv", "rc"])
    branches = []
    for node in range(1, nodes):
        branches.append((generator.choice(kinds), node, generator.randrange(node)))
    for _ in range(generator.randint(1, 6)):
        a, b = generator.sample(range(nodes), 2)
        branches.append((generator.choice(kinds), a, b))
    return nodes, branches


def expected(nodes, branches):
    """'loop' or 'cutset' if the circuit must be refused, otherwise the index."""
    def joined(kinds, sets=None):
        sets = sets or Sets(nodes)
        closed = False
        for kind, a, b in branches:
            if kind in kinds:
                closed = not sets.join(a, b) or closed
        return sets, closed
    if joined("v")[1]:
        return "loop"
    whole = joined("crvl")[0]
    if any(whole.find(n) for n in range(nodes)):
        return "cutset"
    capacitors = joined("c")[0]
    joined_by_c = [capacitors.find(n) for n in range(nodes)]
    sets, closed = joined("v", capacitors)
    parts = joined("r", sets)[0]
    if closed or any(parts.find(n) for n in range(nodes)):
        return 2
    return 1 if any(kind == "v" for kind, _, _ in branches) or any(joined_by_c) else 0


def netlist(branches, generator):
    lines = ["random"]
    for k, (kind, a, b) in enumerate(branches):
        value = {"v": f"SIN(0 {generator.uniform(1, 5):.3f} 1k)", "i": f"SIN(0 {generator.uniform(1, 5):.3f}m 1k)",
                 "r": f"{generator.uniform(1, 9):.3f}k", "c": f"{generator.uniform(1, 9):.3f}n",
                 "l": f"{generator.uniform(1, 9):.3f}m"}[kind]
        lines.append(f"{kind}{k} {a} {b} {value}")
    return "\n".join(lines + [".tran 1u 1m", ".end", ""])


def judge(path):
    run = subprocess.run([DAEDAL, "analyze", path, "--json"], capture_output=True, text=True, check=False)
    if run.returncode == 4 and "loop of voltage sources" in run.stderr:
        return "loop", run
    if run.returncode == 4 and ("current source" in run.stderr or "not connected to ground" in run.stderr):
        return "cutset", run
    if run.returncode:
        return f"status {run.returncode}", run
    report = json.loads(run.stdout)
    found = {report["topology"]["index"], report["structural_index"], report["index_true"]}
    return found.pop() if len(found) == 1 else sorted(found), run


def main():
    bad, seen = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.cir")
        for seed in range(COUNT):
            generator = random.Random(seed)
            nodes, branches = random_circuit(generator)
            text = netlist(branches, generator)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            wanted = expected(nodes, branches)
            found, run = judge(path)
            seen[wanted] = seen.get(wanted, 0) + 1
            if found != wanted:
                bad += 1
                if bad <= 5:
                    print(f"circuit {seed}: {found} instead of {wanted}\n{text}{run.stderr}")
    print(f"{COUNT - bad} of {COUNT} circuits agree: {seen}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
