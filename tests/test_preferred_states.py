"""Pressures of vessels are preferred as states, but the equations differentiate masses. Generated networks of vessels with stiff and soft media, volumes that events change, and laws
that change beyond a pressure. Pressures are as accurate as states, and each mass is continuous at every event."""
import random
import unittest

from runs import by_turns, seeds, simulate

STOP = 10
LAWS = ("{m} = {V}*1000*(1 + ({p} - 1e5)/{bulk})", "{m} = {V}*1000*exp(({p} - 1e5)/{bulk})", "{m} = {V}*(1000*(1 + ({p} - 1e5)/{bulk}))^1.5",
        "{m} = {V}*1e-3*{p}^0.8", "{m} = {V}*1000*(1 + ({p} - 1e5)/(if time > {change} then 0.5 else 1)/{bulk})")


def vessels(rng, select):
    """The text of a model, and the number of its vessels."""
    count = rng.randint(1, 4)
    declarations, equations, inflow = [], [], {k: [] for k in range(count)}
    for k in range(count):
        volume, bulk = rng.uniform(0.05, 0.5), 10**rng.uniform(7, 9.5)
        declarations += [f"Real p{k}(start = {rng.uniform(1e5, 2e5)!r}, fixed = true, nominal = 1e5{select});", f"Real m{k}(nominal = {1000*volume!r}), w{k};",
                         f"Real sum{k}(start = 0, fixed = true, nominal = 100);"]
        law = rng.choice(LAWS).format(m=f"m{k}", p=f"p{k}", V=f"V{k}", bulk=repr(bulk), change=repr(rng.uniform(2, 8)))
        equations += [law + ";", f"der(m{k}) = w{k};", f"der(sum{k}) = w{k};"]
        if rng.random() < 0.4:
            declarations.append(f"discrete Real V{k}(start = {volume!r}, fixed = true);")
            equations.append(f"when time > {rng.uniform(2, 8)!r} then V{k} = {volume * (1 + 10**rng.uniform(-6, -4))!r}; end when;")
        else: declarations.append(f"parameter Real V{k} = {volume!r};")
        inflow[k].append(f"{10**rng.uniform(-7, -5)!r}*(1.5e5 + 5e4*sin({rng.uniform(0.3, 3)!r}*time) - p{k})")
    for k in range(1, count):
        flow = f"{10**rng.uniform(-7, -5)!r}*(p{k} - p{k - 1})"
        inflow[k].append("-" + flow)
        inflow[k - 1].append(flow)
    equations += [f"w{k} = " + " + ".join(inflow[k]).replace("+ -", "- ") + ";" for k in range(count)]
    return "model M\n " + "\n ".join(declarations) + "\nequation\n " + "\n ".join(equations) + "\nend M;\n", count


class PreferredStates(unittest.TestCase):
    def test_vessels(self):
        for seed in seeds(15):
            text, count = vessels(random.Random(seed), ", stateSelect = StateSelect.prefer")
            plain, _ = vessels(random.Random(seed), "")
            exact = simulate(plain, solver="radau", stop_time=STOP, tolerance=1e-12)
            self.assertEqual(exact.status, 0, (seed, exact.words))
            for solver in by_turns(("auto", "radau", "bdf"), seed):
                run = simulate(text, solver=solver, stop_time=STOP, tolerance=1e-6)
                self.assertEqual(run.status, 0, (seed, solver, run.words))
                for k in range(count):
                    name = f"{seed} {solver} {k}"
                    self.assertAlmostEqual(run.end(f"p{k}"), exact.end(f"p{k}"), delta=2e-5 * abs(exact.end(f"p{k}")), msg=name)
                    mass, moved = run.columns[f"m{k}"], run.columns[f"sum{k}"]
                    for m, s in zip(mass, moved): self.assertAlmostEqual(m - mass[0], s, delta=2e-5 * abs(mass[0]), msg=name)


if __name__ == "__main__":
    unittest.main()
